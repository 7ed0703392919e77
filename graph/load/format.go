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

// formatOf reads the encoding off the extension, in any case of letters, as Envoy does.
func formatOf(path string) format { return extensions[strings.ToLower(filepath.Ext(path))] }

// decoder is the format's name in the decoder.
func (f format) decoder() decode.Format {
	if f == jsonFormat {
		return decode.JSON
	}
	return decode.YAML
}

// TextExtensions lists the extensions of files that are texts, with their dots, sorted.
func TextExtensions() []string {
	var texts []string
	for _, extension := range slices.Sorted(maps.Keys(extensions)) {
		if extensions[extension] != binaryFormat {
			texts = append(texts, extension)
		}
	}
	return texts
}

// Known tells whether a file's extension is one of xDS's encodings: in a folder, only such files are read.
func Known(path string) bool { return formatOf(path) != unknownFormat }
