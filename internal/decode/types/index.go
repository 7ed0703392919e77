package types

import (
	_ "embed"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// files has a line for each file: path, offset and length in descriptors. names has one for each message and enum: name,
// file, which of the two, name in v2. Both are sorted, and searched as they are: most runs need a handful of lines.
var (
	//go:embed files.txt
	files string
	//go:embed names.txt
	names string
)

// line returns the columns behind the first one of the line that begins with key, or nil if there is no such line.
func line(table, key string) []string {
	from, to := 0, len(table) // of the lines in question
	for from < to {
		start := strings.LastIndexByte(table[:(from+to)/2], '\n') + 1
		end := start + strings.IndexByte(table[start:], '\n')
		first, rest, _ := strings.Cut(table[start:end], "\t")
		switch c := strings.Compare(key, first); {
		case c == 0:
			return strings.Split(rest, "\t")
		case c < 0:
			to = start
		default:
			from = end + 1
		}
	}
	return nil
}

// raw returns a file's descriptor, or nil if there is no such file.
func raw(path string) []byte {
	columns := line(files, path)
	if columns == nil {
		return nil
	}
	offset, _ := strconv.Atoi(columns[0])
	length, _ := strconv.Atoi(columns[1])
	return descriptors[offset : offset+length]
}

// fileOf returns the path of the file that declares a message or enum, or "" if there is none.
func fileOf(name protoreflect.FullName) string {
	if columns := line(names, string(name)); columns != nil {
		return columns[0]
	}
	return ""
}

// Each calls f for every message of the API, by name. v2 is the message's name in xDS v2, or "" if it does not have
// one.
func Each(f func(name, v2 protoreflect.FullName)) {
	for line := range strings.Lines(names) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if columns[2] == "message" {
			f(protoreflect.FullName(columns[0]), protoreflect.FullName(columns[3]))
		}
	}
}
