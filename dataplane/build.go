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

// build is the content of a target's file.
type build struct {
	extensions Extensions
	adds       map[protoreflect.FullName]bool
	lacks      map[string]bool // packages, messages, fields, enum values
	options    map[protoreflect.FullName]*descriptorpb.FieldOptions
}

// read takes the lines of a target's file, sorted, with # comments:
//
//	extension CATEGORY NAME TYPE_URL…   it has the extension
//	lacks NAME                          it does not have that package, message, field or enum value (ENUM.VALUE) of the API
//	options FIELD BASE64                its FieldOptions of that field differ: other constraints, or another deprecation
//	adds MESSAGE                         it has a message that is gone from the descriptors that xdslint decodes with
//	include FILE                        it has all that the target of the other file has
//	has PACKAGE                         it has what an included file lacks
func read(file string) (*build, error) {
	b := &build{Extensions{byTypeURL: map[string][]Extension{}, byName: map[string][]Extension{}}, map[protoreflect.FullName]bool{}, map[string]bool{}, map[protoreflect.FullName]*descriptorpb.FieldOptions{}}
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
