package dataplane

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// build is the parsed file of a target.
type build struct {
	extensions Extensions
	adds       map[protoreflect.FullName]bool
	lacks      map[string]bool // packages, messages, fields, enum values
	options    map[protoreflect.FullName]*descriptorpb.FieldOptions
}

// read parses a target's file in builds/. Its lines are sorted; a comment begins with #:
//
//	extension CATEGORY NAME TYPE_URL…   the build has this extension
//	lacks NAME                          it does not know this package, message, field or enum value (ENUM.VALUE) of the API
//	options FIELD BASE64                its FieldOptions of this field differ from those of xdslint's descriptors
//	adds MESSAGE                        it knows this message, which xdslint's descriptors no longer have
//	include FILE                        it has everything that the other file lists
//	has PACKAGE                         it knows this package, although an included file says that it does not
func read(file string) (*build, error) {
	b := &build{
		extensions: Extensions{byTypeURL: map[string][]Extension{}, byName: map[string][]Extension{}},
		adds:       map[protoreflect.FullName]bool{},
		lacks:      map[string]bool{},
		options:    map[protoreflect.FullName]*descriptorpb.FieldOptions{},
	}
	if err := b.read(file); err != nil {
		return nil, err
	}
	slices.Sort(b.extensions.categories)
	b.extensions.categories = slices.Compact(b.extensions.categories)
	return b, nil
}

func (b *build) read(file string) error {
	text, err := files.ReadFile("builds/" + file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if err := b.line(strings.Fields(line)); err != nil {
			return fmt.Errorf("%s: %q: %w", file, line, err)
		}
	}
	return nil
}

func (b *build) line(words []string) (err error) {
	if len(words) == 0 || words[0] == "#" {
		return nil
	}
	if len(words) == 1 {
		return fmt.Errorf("a line has at least two words")
	}
	switch verb, rest := words[0], words[1:]; {
	case verb == "extension" && len(rest) > 1:
		b.extensions.add(Extension{rest[0], rest[1], rest[2:]})
	case verb == "adds":
		b.adds[protoreflect.FullName(rest[0])] = true
	case verb == "lacks":
		b.lacks[rest[0]] = true
	case verb == "has":
		delete(b.lacks, rest[0])
	case verb == "options":
		var raw []byte
		if raw, err = base64.StdEncoding.DecodeString(strings.Join(rest[1:], "")); err == nil {
			o := new(descriptorpb.FieldOptions)
			b.options[protoreflect.FullName(rest[0])], err = o, proto.Unmarshal(raw, o)
		}
	case verb == "include":
		err = b.read(rest[0])
	default:
		err = fmt.Errorf("unknown")
	}
	return err
}
