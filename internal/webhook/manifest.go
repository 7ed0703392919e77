package webhook

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// configMap is the relevant part of a ConfigMap.
type configMap struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name         string            `json:"name"`
		GenerateName string            `json:"generateName"`
		Namespace    string            `json:"namespace"`
		Labels       map[string]string `json:"labels"`
	} `json:"metadata"`
	Data       map[string]string `json:"data"`
	BinaryData map[string]string `json:"binaryData"`
}

// manifest returns the text of an object in JSON, and its name. A ConfigMap is written as YAML with its texts as blocks: they can
// contain suppression comments, and the webhook must not reject what the command line accepts.
func manifest(object []byte) (name string, text []byte) {
	var c configMap
	if json.Unmarshal(object, &c) != nil || c.Kind != "ConfigMap" {
		return "object.json", object
	}
	return "object.yaml", []byte(c.yaml())
}

func (c *configMap) yaml() string {
	var out strings.Builder
	entry := func(indent, key, value string) { out.WriteString(indent + key + ": " + value + "\n") }
	section := func(indent, key string, values map[string]string, write func(string) string) {
		if len(values) == 0 {
			return
		}
		out.WriteString(indent + key + ":\n")
		for _, k := range slices.Sorted(maps.Keys(values)) {
			entry(indent+"  ", quoted(k), write(values[k]))
		}
	}
	entry("", "apiVersion", quoted(c.APIVersion))
	entry("", "kind", quoted(c.Kind))
	out.WriteString("metadata:\n")
	entry("  ", "name", quoted(c.Metadata.Name))
	entry("  ", "generateName", quoted(c.Metadata.GenerateName))
	entry("  ", "namespace", quoted(c.Metadata.Namespace))
	section("  ", "labels", c.Metadata.Labels, quoted)
	section("", "data", c.Data, block)
	section("", "binaryData", c.BinaryData, quoted)
	return out.String()
}

// quoted writes a string in quotes, in the common form of YAML and Go.
func quoted(s string) string { return strconv.QuoteToASCII(s) }

// block writes a text below a key that is indented by two spaces, and keeps its white space. A text with characters that a block
// cannot contain is quoted.
func block(s string) string {
	odd := func(r rune) bool {
		return !unicode.IsPrint(r) && r != '\n' && r != '\t' || r == utf8.RuneError
	}
	if s == "" || strings.ContainsFunc(s, odd) {
		return quoted(s)
	}
	text, ended := strings.CutSuffix(s, "\n")
	header := "|2-"
	if ended {
		header = "|2+"
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "    " + line
		}
	}
	return header + "\n" + strings.Join(lines, "\n")
}
