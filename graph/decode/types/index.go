package types

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// index has a line for each file (path, offset and length in descriptors), an empty line, and a sorted line for each
// message and enum (name, file, which of the two, name in v2).
//
//go:embed index.txt
var index string

// contents is the index, parsed.
type contents struct {
	files    map[string]place
	declared map[protoreflect.FullName]declaration
	messages []protoreflect.FullName // sorted
}

type place struct{ from, to int }

type declaration struct {
	file string
	v2   protoreflect.FullName
}

var parsed = sync.OnceValue(func() *contents {
	c := &contents{files: map[string]place{}, declared: map[protoreflect.FullName]declaration{}}
	var paths []string
	files, declarations, _ := strings.Cut(index, "\n\n")
	for line := range strings.SplitSeq(files, "\n") {
		path, numbers, _ := strings.Cut(line, "\t")
		offset, length, _ := strings.Cut(numbers, "\t")
		from, _ := strconv.Atoi(offset)
		size, _ := strconv.Atoi(length)
		c.files[path] = place{from, from + size}
		paths = append(paths, path)
	}
	for line := range strings.Lines(declarations) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		file, _ := strconv.Atoi(fields[1])
		name := protoreflect.FullName(fields[0])
		c.declared[name] = declaration{paths[file], protoreflect.FullName(fields[3])}
		if fields[2] == "message" {
			c.messages = append(c.messages, name)
		}
	}
	return c
})

// Each calls f for every message of the API, by name; v2 is the message's name in xDS v2, empty if it had none.
func Each(f func(name, v2 protoreflect.FullName)) {
	for _, name := range parsed().messages {
		f(name, parsed().declared[name].v2)
	}
}
