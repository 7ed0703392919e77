package load

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/decode"
)

// format is the encoding of a file.
type format uint8

const (
	unknownFormat format = iota
	yamlFormat
	jsonFormat
	textFormat // proto text
	binaryFormat
)

var extensions = map[string]format{
	".yaml":      yamlFormat,
	".yml":       yamlFormat,
	".json":      jsonFormat,
	".pb_text":   textFormat,
	".textproto": textFormat,
	".txtpb":     textFormat,
	".pb":        binaryFormat,
	".binpb":     binaryFormat,
}

// envoyExtensions are those by which Envoy knows how to read a bootstrap. It reads any other file as JSON.
var envoyExtensions = map[format][]string{
	yamlFormat:   {".yaml", ".yml"},
	textFormat:   {".pb_text"},
	binaryFormat: {".pb"},
}

// extensionFor returns the extension that a file lacks for Envoy to read it in the format, or "".
func extensionFor(path string, f format) string {
	needed := envoyExtensions[f]
	if len(needed) == 0 || slices.Contains(needed, strings.ToLower(filepath.Ext(path))) {
		return ""
	}
	return needed[0]
}

// formatOf returns the encoding for an extension, in any case of letters, as Envoy does.
func formatOf(path string) format { return extensions[strings.ToLower(filepath.Ext(path))] }

// decoder returns the decoder's name of the format.
func (f format) decoder() decode.Format {
	if f == jsonFormat {
		return decode.JSON
	}
	return decode.YAML
}

// TextExtensions returns the extensions of text files, with their dots, sorted.
func TextExtensions() []string {
	var texts []string
	for _, extension := range slices.Sorted(maps.Keys(extensions)) {
		if extensions[extension] != binaryFormat {
			texts = append(texts, extension)
		}
	}
	return texts
}

// Known reports whether a file's extension is that of an encoding of xDS. In a folder, only such files are read.
func Known(path string) bool { return formatOf(path) != unknownFormat }
