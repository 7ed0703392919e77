// Package scaffold creates the files of a new plugin: a copy of an example, and of the SDK that it uses.
package scaffold

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/xdslint/xdslint"
)

// File is one file of a project.
type File struct {
	Name string // with slashes, from the project's folder
	Text []byte
}

// Language in which a plugin can be written.
type Language struct {
	Name  string
	Build string                   // the command that builds rules.wasm
	Files func(name string) []File // of a project with this name
}

// Languages are the supported ones.
var Languages = []Language{
	{"go", "GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags '-s -w' -o rules.wasm .", goFiles},
	{"rust", "cargo build --release --target wasm32-unknown-unknown && cp target/wasm32-unknown-unknown/release/rules.wasm .", rustFiles},
}

func rustFiles(string) []File {
	return replaced(slices.Concat(below("examples/plugin-rust", ""), below("sdk/rust", "sdk")), `"../../sdk/rust"`, `"sdk"`)
}

// below copies a folder of this module into a folder of the project.
func below(from, to string) (files []File) {
	err := fs.WalkDir(xdslint.Templates, from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := xdslint.Templates.ReadFile(name)
		files = append(files, File{path.Join(to, strings.TrimPrefix(name, from+"/")), text})
		return err
	})
	if err != nil {
		panic(err) // it is embedded
	}
	return files
}

// replaced replaces texts in all files.
func replaced(files []File, oldnew ...string) []File {
	for i := range files {
		for pair := range slices.Chunk(oldnew, 2) {
			files[i].Text = bytes.ReplaceAll(files[i].Text, []byte(pair[0]), []byte(pair[1]))
		}
	}
	return files
}
