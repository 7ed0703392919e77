package plugin

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxFields limits the fields in an answer and in the messages in it: an empty message takes two bytes on the wire, but a hundred in memory.
const maxFields = 500_000

var (
	errBroken  = errors.New("broken")
	errTooMany = errors.New("too many fields")
)

// unmarshal decodes an answer. It counts the fields first, so that a small answer cannot take a large amount of memory.
func unmarshal(raw []byte, m proto.Message) error {
	fields, md := 0, m.ProtoReflect().Descriptor()
	err := count(raw, md, &fields)
	if err == nil {
		err = proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(raw, m)
	}
	switch {
	case errors.Is(err, errTooMany):
		return fmt.Errorf("more than %d fields", maxFields)
	case err != nil && utf8.Valid(raw):
		return fmt.Errorf("bytes that are not %s", md.FullName())
	case err != nil:
		return fmt.Errorf("bytes that are not %s, or a string that is not UTF-8", md.FullName())
	}
	return nil
}

func count(raw []byte, md protoreflect.MessageDescriptor, fields *int) error {
	for len(raw) > 0 {
		if *fields++; *fields > maxFields {
			return errTooMany
		}
		number, kind, n := protowire.ConsumeField(raw)
		if n < 0 {
			return errBroken
		}
		if fd := md.Fields().ByNumber(number); fd != nil && fd.Message() != nil && kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(raw)
			inner, _ := protowire.ConsumeBytes(raw[tag:])
			if err := count(inner, fd.Message(), fields); err != nil {
				return err
			}
		}
		raw = raw[n:]
	}
	return nil
}
