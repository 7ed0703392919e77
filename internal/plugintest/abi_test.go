package plugintest_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/pluginabi"
)

var update = flag.Bool("update", false, "write sdk/rust/src/abi.rs and golden files")

const abi = "../../sdk/rust/src/abi.rs"

// TestMessages: src/abi.rs of the Rust SDK has the messages of plugin.proto.
func TestMessages(t *testing.T) {
	want := rust(new(pluginabi.Description).ProtoReflect().Descriptor().ParentFile())
	if *update {
		if err := os.WriteFile(abi, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(abi)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("src/abi.rs is not current: run `go test ./internal/plugintest -update`, or make update\n%s", diff)
	}
}

// rust spells messages as prost reads them.
func rust(file protoreflect.FileDescriptor) string {
	var b strings.Builder
	b.WriteString("// Made of internal/pluginabi/plugin.proto by `make update`.\n")
	for i := range file.Messages().Len() {
		writeMessage(&b, file.Messages().Get(i))
	}
	for i := range file.Enums().Len() {
		writeEnum(&b, file.Enums().Get(i))
	}
	return b.String()
}

func writeMessage(b *strings.Builder, md protoreflect.MessageDescriptor) {
	fmt.Fprintf(b, "\n#[derive(Clone, PartialEq, prost::Message)]\npub struct %s {\n", md.Name())
	module := strings.ToLower(string(md.Name()))
	var oneofs []protoreflect.OneofDescriptor
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		switch of := fd.ContainingOneof(); {
		case of == nil || of.IsSynthetic():
			label, form := "", "%s"
			switch {
			case fd.IsList():
				label, form = ", repeated", "Vec<%s>"
			case fd.HasPresence():
				label, form = ", optional", "Option<%s>"
			}
			kind, spelled := typeOf(fd)
			fmt.Fprintf(b, "    #[prost(%s%s, tag = \"%d\")]\n    pub %s: %s,\n", kind, label, fd.Number(), name(fd), fmt.Sprintf(form, spelled))
		case !slices.Contains(oneofs, of):
			oneofs = append(oneofs, of)
			path := module + "::" + camel(of.Name())
			var tags []string
			for j := range of.Fields().Len() {
				tags = append(tags, fmt.Sprint(of.Fields().Get(j).Number()))
			}
			fmt.Fprintf(b, "    #[prost(oneof = \"%s\", tags = \"%s\")]\n    pub %s: Option<%[1]s>,\n", path, strings.Join(tags, ", "), of.Name())
		}
	}
	b.WriteString("}\n")
	for _, of := range oneofs {
		fmt.Fprintf(b, "\npub mod %s {\n    #[derive(Clone, PartialEq, prost::Oneof)]\n    pub enum %s {\n", module, camel(of.Name()))
		for i := range of.Fields().Len() {
			fd := of.Fields().Get(i)
			kind, spelled := typeOf(fd)
			fmt.Fprintf(b, "        #[prost(%s, tag = \"%d\")]\n        %s(%s),\n", kind, fd.Number(), camel(fd.Name()), spelled)
		}
		b.WriteString("    }\n}\n")
	}
}

func writeEnum(b *strings.Builder, ed protoreflect.EnumDescriptor) {
	fmt.Fprintf(b, "\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]\n#[repr(i32)]\npub enum %s {\n", ed.Name())
	prefix := strings.ToUpper(string(ed.Name())) + "_"
	for i := range ed.Values().Len() {
		value := ed.Values().Get(i)
		fmt.Fprintf(b, "    %s = %d,\n", camel(protoreflect.Name(strings.ToLower(strings.TrimPrefix(string(value.Name()), prefix)))), value.Number())
	}
	b.WriteString("}\n")
}

// typeOf is a field's type, in prost's words and in Rust's.
func typeOf(fd protoreflect.FieldDescriptor) (prost, rust string) {
	switch fd.Kind() {
	case protoreflect.StringKind:
		return "string", "String"
	case protoreflect.BytesKind:
		return `bytes = "vec"`, "Vec<u8>"
	case protoreflect.BoolKind:
		return "bool", "bool"
	case protoreflect.Uint32Kind:
		return "uint32", "u32"
	case protoreflect.EnumKind:
		return fmt.Sprintf("enumeration = %q", fd.Enum().Name()), "i32"
	case protoreflect.MessageKind:
		return "message", string(fd.Message().Name())
	}
	panic(fmt.Sprintf("%s: add the Rust type of kind %s here", fd.FullName(), fd.Kind()))
}

// name of a field, escaped if it is a keyword.
func name(fd protoreflect.FieldDescriptor) string {
	if fd.Name() == "type" {
		return "r#type"
	}
	return string(fd.Name())
}

func camel(name protoreflect.Name) string {
	var b strings.Builder
	for word := range strings.SplitSeq(string(name), "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
