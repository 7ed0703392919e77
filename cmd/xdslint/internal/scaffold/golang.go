package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint"
)

const own = "github.com/xdslint/xdslint"

// modules that a plugin in Go needs, beginning with those that it imports directly.
var modules = []string{
	"github.com/envoyproxy/go-control-plane/envoy",
	"google.golang.org/protobuf",
	"cel.dev/expr",
	"github.com/cncf/xds/go",
	"github.com/envoyproxy/protoc-gen-validate",
	"github.com/planetscale/vtprotobuf",
	"google.golang.org/genproto/googleapis/api",
	"google.golang.org/genproto/googleapis/rpc",
}

const imported = 2 // of the modules

// goFiles are a module that contains the SDK as a package.
func goFiles(name string) []File {
	module := "example.com/" + name
	files := slices.Concat(below("examples/plugin-go", ""), below("internal/pluginabi", "sdk/pluginabi"), below("sdk", "sdk"))
	files = slices.DeleteFunc(files, func(f File) bool { return strings.HasPrefix(f.Name, "sdk/rust/") })
	files = replaced(files, `"`+own+`/sdk"`, `"`+module+`/sdk"`, `"`+own+`/internal/pluginabi"`, `"`+module+`/sdk/pluginabi"`)
	return append(files, File{"go.mod", goMod(module)}, File{"go.sum", embedded("go.sum")})
}

func embedded(name string) []byte {
	text, err := xdslint.Templates.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return text
}

// goMod requires modules in the versions of this xdslint.
func goMod(module string) []byte {
	version, language := map[string]string{}, ""
	for line := range strings.Lines(string(embedded("go.mod"))) {
		switch words := strings.Fields(strings.TrimPrefix(line, "require ")); {
		case len(words) < 2:
		case words[0] == "go":
			language = words[1]
		default:
			version[words[0]] = words[1]
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module %s\n\ngo %s\n\nrequire (\n", module, language)
	for i, name := range modules {
		fmt.Fprintf(&b, "\t%s %s", name, version[name])
		if i >= imported {
			b.WriteString(" // indirect")
		}
		b.WriteByte('\n')
	}
	b.WriteString(")\n")
	return []byte(b.String())
}
