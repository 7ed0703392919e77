package constraint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/envoyproxy/protoc-gen-validate/validate"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/xdslint/xdslint/internal/constraint"
)

// fileText is a user's proto file with one field.
const fileText = `
	name: "user.proto" package: "user" syntax: %q
	dependency: ["google/protobuf/any.proto", "google/protobuf/duration.proto", "google/protobuf/timestamp.proto",
		"google/protobuf/wrappers.proto", "validate/validate.proto", "udpa/annotations/sensitive.proto"]
	enum_type { name: "Colour" value { name: "RED" number: 0 } value { name: "BLUE" number: 100 } }
	message_type { name: "Sub" field { name: "f" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL } }
	message_type { name: "M" %s
		nested_type { name: "FEntry" options { map_entry: true }
			field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
			field { name: "value" number: 2 type: TYPE_MESSAGE type_name: ".user.Sub" label: LABEL_OPTIONAL } } }`

// userFile gives the descriptors of a file whose message M has the fields and options in text.
func userFile(t testing.TB, syntax, text string) *descriptorpb.FileDescriptorProto {
	t.Helper()
	file := new(descriptorpb.FileDescriptorProto)
	if err := prototext.Unmarshal(fmt.Appendf(nil, fileText, syntax, text), file); err != nil {
		t.Fatal(err)
	}
	return file
}

func userMessage(t testing.TB, file *descriptorpb.FileDescriptorProto) protoreflect.MessageDescriptor {
	t.Helper()
	fd, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	return fd.Messages().ByName("M")
}

func complaintsAbout(t testing.TB, md protoreflect.MessageDescriptor, json string) string {
	t.Helper()
	m := dynamicpb.NewMessage(md)
	if err := protojson.Unmarshal([]byte(json), m); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range collect(m) {
		fmt.Fprintln(&b, f.path, f.Message)
	}
	return b.String()
}

const one = `field { name: "f" number: 1 label: LABEL_OPTIONAL type: TYPE_%s options { [validate.rules] { %s } } }`

// TestUser covers the kinds of rules that Envoy's own protos do not use. Each case has valid values, invalid values, and the message about the invalid
// ones.
func TestUser(t *testing.T) {
	for _, c := range []struct {
		kind, rules string
		good, bad   []string
		want        string
	}{
		{"INT32", `int32 { gt: 10 lt: 5 }`, []string{`4`, `11`}, []string{`5`, `10`}, "must be less than 5 or greater than 10"},
		{"INT32", `int32 { gte: 10 lt: 5 }`, []string{`4`, `10`}, []string{`5`, `9`}, "must be less than 5 or at least 10"},
		{"INT32", `int32 { gt: 10 lte: 5 }`, []string{`5`, `11`}, []string{`6`, `10`}, "must be at most 5 or greater than 10"},
		{"SINT64", `sint64 { gte: 10 lte: 5 }`, []string{`5`, `10`}, []string{`6`, `9`}, "must be at most 5 or at least 10"},
		{"SFIXED32", `sfixed32 { const: 3 }`, []string{`3`}, []string{`4`}, "must be 3"},
		{"FIXED64", `fixed64 { in: [1, 2] }`, []string{`1`}, []string{`3`}, "must be one of 1, 2"},
		{"UINT64", `uint64 { not_in: [1, 2] ignore_empty: true }`, []string{`0`, `3`}, []string{`2`}, "must not be one of 1, 2"},
		{"FLOAT", `float { gt: 0.1 }`, []string{`0.2`, `"NaN"`}, []string{`0.1`}, "must be greater than 0.1"},
		{"DOUBLE", `double { gte: 1 ignore_empty: true }`, []string{`0`, `1`}, []string{`0.5`}, "must be at least 1"},
		{"INT32", `uint32 { gt: 5 }`, []string{`1`}, nil, ""}, // PGV rejects rules of another type
		{"INT32", `string { min_len: 5 }`, []string{`1`}, nil, ""},
		{"STRING", `string { const: "a" }`, []string{`"a"`}, []string{`"b"`}, `must be "a"`},
		{"STRING", `string { not_in: ["a"] }`, []string{`"b"`}, []string{`"a"`}, `must not be one of "a"`},
		{"STRING", `string { len: 2 }`, []string{`"éé"`}, []string{`"é"`}, "must have exactly 2 characters"},
		{"STRING", `string { min_len: 2 max_len: 3 }`, []string{`"éé"`}, []string{`"é"`, `"abcd"`}, "must have 2 to 3 characters"},
		{"STRING", `string { len_bytes: 2 }`, []string{`"é"`}, []string{`"éé"`}, "must have exactly 2 bytes"},
		{"STRING", `string { min_bytes: 2 }`, []string{`"é"`}, []string{`"e"`}, "must have at least 2 bytes"},
		{"STRING", `string { prefix: "a" }`, []string{`"ab"`}, []string{`"b"`}, `must begin with "a"`},
		{"STRING", `string { suffix: "a" }`, []string{`"ba"`}, []string{`"ab"`}, `must end with "a"`},
		{"STRING", `string { contains: "a" }`, []string{`"bab"`}, []string{`"b"`}, `must contain "a"`},
		{"STRING", `string { not_contains: "a" }`, []string{`"b"`}, []string{`"bab"`}, `must not contain "a"`},
		{"STRING", `string { pattern: "b+" }`, []string{`"bb"`}, []string{`"abba"`}, `must match the regular expression "b+"`}, // all of it
		{"STRING", `string { pattern: "(" }`, []string{`"a"`}, nil, ""},
		{
			"STRING", `string { well_known_regex: HTTP_HEADER_VALUE }`,
			[]string{`"a\tb"`},
			[]string{`"a\u0001"`, `"\u007f"`},
			"must be a valid HTTP header value, without control characters",
		},
		{"STRING", `string { ip: true }`, []string{`"10.0.0.1"`, `"::1"`}, []string{`"10.0.0.01"`, `"fe80::1%eth0"`, `""`}, "must be an IP address"},
		{"STRING", `string { ipv4: true }`, []string{`"10.0.0.1"`}, []string{`"::1"`}, "must be an IPv4 address"},
		{"STRING", `string { ipv6: true }`, []string{`"::ffff:1.2.3.4"`}, []string{`"1.2.3.4"`}, "must be an IPv6 address"},
		{"STRING", `string { hostname: true }`, []string{`"a.b."`, `"a-1"`}, []string{`"-a"`, `"a..b"`, `""`, `"a_b"`, `"` + strings.Repeat("a", 64) + `"`}, "must be a host name"},
		{"STRING", `string { address: true }`, []string{`"a.b"`, `"::1"`}, []string{`"a b"`}, "must be an IP address or a host name"},
		{"STRING", `string { email: true }`, []string{`"a@b.c"`}, []string{`"a"`}, "must be an e-mail address"},
		{"STRING", `string { uri: true }`, []string{`"http://a"`}, []string{`"/a"`, `":"`}, "must be an absolute URI"},
		{"STRING", `string { uri_ref: true }`, []string{`"/a"`}, []string{`":"`}, "must be a URI"},
		{"STRING", `string { uuid: true }`, []string{`"01234567-89ab-CDEF-0123-456789abcdef"`}, []string{
			`"01234567-89ag-cdef-0123-456789abcdef"`,
			`"01234567-89ab-cdef-0123-456789abcde"`, `"01234567089ab-cdef-0123-456789abcdef"`,
		}, "must be a UUID"},
		{"BYTES", `bytes { const: "a" }`, []string{`"YQ=="`}, []string{`"Yg=="`}, `must be "a"`},
		{"BYTES", `bytes { in: ["a"] }`, []string{`"YQ=="`}, []string{`"Yg=="`}, `must be one of "a"`},
		{"BYTES", `bytes { prefix: "a" ignore_empty: true }`, []string{`""`, `"YQ=="`}, []string{`"Yg=="`}, `must begin with "a"`},
		{"BYTES", `bytes { pattern: "a+" }`, []string{`"YQ=="`}, []string{`"YmE="`}, `must match the regular expression "a+"`},
		{"BYTES", `bytes { ip: true }`, []string{`"AAAAAA=="`}, []string{`"AA=="`}, "must be an IP address of 4 or 16 bytes"},
		{"BYTES", `bytes { ipv4: true }`, []string{`"AAAAAA=="`}, []string{`"AA=="`}, "must be an IPv4 address of 4 bytes"},
		{"BYTES", `bytes { ipv6: true }`, nil, []string{`"AA=="`}, "must be an IPv6 address of 16 bytes"},
		{`ENUM type_name: ".user.Colour"`, `enum { const: 100 }`, []string{`"BLUE"`}, []string{`"RED"`, `7`}, "must be BLUE"},
		{`ENUM type_name: ".user.Colour"`, `enum { in: [100, 7] }`, []string{`"BLUE"`, `7`}, []string{`"RED"`}, "must be one of BLUE, 7"},
		{`ENUM type_name: ".user.Colour"`, `enum { defined_only: true }`, []string{`"BLUE"`}, []string{`7`}, "must be a value that Colour defines"},
		{`MESSAGE type_name: ".google.protobuf.StringValue"`, `string { min_len: 1 }`, []string{`"a"`, `null`}, []string{`""`}, "must not be empty"},
		{`MESSAGE type_name: ".google.protobuf.Int64Value"`, `int64 { gt: 5 } message { required: true }`, []string{`6`}, []string{`5`, `null`}, "required"},
		{`MESSAGE type_name: ".google.protobuf.UInt32Value"`, `string { min_len: 1 }`, []string{`5`}, nil, ""},
		{`MESSAGE type_name: ".google.protobuf.Duration"`, `duration { const { seconds: 1 } }`, []string{`"1s"`, `null`}, []string{`"2s"`}, "must be 1s"},
		{`MESSAGE type_name: ".google.protobuf.Duration"`, `duration { in { nanos: 50 } }`, []string{`"0.00000005s"`}, []string{`"2s"`}, "must be one of 0.00000005s"},
		{`MESSAGE type_name: ".google.protobuf.Duration"`, `duration { not_in { nanos: 5 } required: true }`, []string{`"1s"`}, []string{`null`}, "is required"},
		{
			`MESSAGE type_name: ".google.protobuf.Timestamp"`, `timestamp { lt { seconds: 60 } }`,
			[]string{`"1970-01-01T00:00:00Z"`, `null`},
			[]string{`"1970-01-01T00:01:00Z"`},
			"is 1970-01-01T00:01:00Z, must be less than 1970-01-01T00:01:00Z",
		},
		{`MESSAGE type_name: ".google.protobuf.Timestamp"`, `timestamp { required: true lt_now: true }`, []string{`"9999-01-01T00:00:00Z"`}, []string{`null`}, "is required"},
		{
			`MESSAGE type_name: ".google.protobuf.Any"`, `any { in: "a/user.A" }`,
			[]string{`null`},
			[]string{`{"@type": "x/google.protobuf.StringValue", "value": ""}`},
			`is a "x/google.protobuf.StringValue", must be one of a/user.A`,
		},
		{
			`MESSAGE type_name: ".google.protobuf.Any"`, `any { not_in: "x/google.protobuf.StringValue" }`,
			[]string{`null`, `{}`},
			[]string{`{"@type": "x/google.protobuf.StringValue", "value": ""}`},
			"must not be one of x/google.protobuf.StringValue",
		},
		{`MESSAGE type_name: ".user.Sub" proto3_optional: true oneof_index: 0`, `message { required: true }`, []string{`null`, `{}`}, nil, ""},
		{`INT32 proto3_optional: true oneof_index: 0`, `int32 { gt: 0 }`, []string{`null`, `1`}, []string{`0`}, "must be greater than 0"},
	} {
		t.Run(c.kind+" "+c.rules, func(t *testing.T) {
			text := fmt.Sprintf(one, c.kind, c.rules)
			if strings.Contains(c.kind, "oneof_index") {
				text += ` oneof_decl { name: "_f" }`
			}
			md := userMessage(t, userFile(t, "proto3", text))
			for _, value := range c.good {
				if got := complaintsAbout(t, md, `{"f": `+value+`}`); got != "" {
					t.Errorf("%s: %s", value, got)
				}
			}
			for _, value := range c.bad {
				if got := complaintsAbout(t, md, `{"f": `+value+`}`); strings.Count(got, "\n") != 1 || !strings.Contains(got, c.want) && c.want != "required" {
					t.Errorf("%s: got %q, want %s", value, got, c.want)
				}
			}
		})
	}
}

func TestUserContainers(t *testing.T) {
	const repeated = `field { name: "f" number: 1 label: LABEL_REPEATED type: TYPE_%s options { %s } }`
	const entries = `MESSAGE type_name: ".user.M.FEntry"`
	for _, c := range []struct{ kind, options, json, want string }{
		{"STRING", `[validate.rules] { repeated { min_items: 2 max_items: 2 } }`, `{"f": ["a"]}`, "f has 1 item, must have exactly 2 items\n"},
		{"STRING", `[validate.rules] { repeated { min_items: 2 max_items: 3 ignore_empty: true } }`, `{}`, ""},
		{"STRING", `[validate.rules] { repeated { min_items: 2 max_items: 3 } }`, `{}`, "f must have 2 to 3 items\n"},
		{"BYTES", `[validate.rules] { repeated { unique: true } }`, `{"f": ["YQ==", "YQ=="]}`, "f[1] must not repeat item 0\n"},
		{`MESSAGE type_name: ".user.Sub"`, `[validate.rules] { repeated { unique: true } }`, `{"f": [{}, {}]}`, ""},
		{
			`MESSAGE type_name: ".google.protobuf.Duration"`, `[validate.rules] { repeated { items { duration { gt {} } } } }`, `{"f": ["1s", "-1s"]}`,
			"f[1] is -1s, must be greater than 0s\n",
		},
		{`MESSAGE type_name: ".google.protobuf.UInt32Value"`, `[validate.rules] { repeated { items { uint32 { lt: 5 } } } }`, `{"f": [5]}`, "f[0] is 5, must be less than 5\n"},
		{entries, `[validate.rules] { map { max_pairs: 1 } }`, `{"f": {"a": {}, "b": {}}}`, "f has 2 pairs, must have at most 1 pair\n"},
		{entries, `[validate.rules] { map { min_pairs: 1 ignore_empty: true } }`, `{}`, ""},
		{entries, `[validate.rules] { map { no_sparse: true } }`, `{"f": {"a": {}}}`, ""},
		{
			entries, `[validate.rules] { map { keys { string { max_len: 1 } } } }`, `{"f": {"bb": {}, "aa": {}, "c": {}}}`,
			"f[aa] has 2 characters, must have at most 1 character\nf[bb] has 2 characters, must have at most 1 character\n",
		},
		{
			"UINT32", `[validate.rules] { repeated { items { uint32 { lt: 5 } } max_items: 0 } } [udpa.annotations.sensitive]: true`, `{"f": [5]}`,
			"f must have no items\nf[0] must be less than 5\n",
		},
		{"UINT32", `[validate.rules] { repeated { items { uint32 { lt: 5 } } } } debug_redact: true`, `{"f": [5]}`, "f[0] must be less than 5\n"},
	} {
		t.Run(c.kind+" "+c.options, func(t *testing.T) {
			md := userMessage(t, userFile(t, "proto3", fmt.Sprintf(repeated, c.kind, c.options)))
			if diff := cmp.Diff(c.want, complaintsAbout(t, md, c.json)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOptions reads the same rules from options however they were parsed.
func TestOptions(t *testing.T) {
	file := userFile(t, "proto3", fmt.Sprintf(one, "UINT32", "uint32 { lt: 5 }")+
		` field { name: "g" number: 2 label: LABEL_OPTIONAL type: TYPE_UINT32 oneof_index: 0 }
		oneof_decl { name: "o" options { [validate.required]: true } }`)
	wire, err := proto.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := protodesc.NewFile(protodesc.ToFileDescriptorProto(validate.File_validate_validate_proto), protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	dynamic := new(protoregistry.Types)
	for i := range foreign.Extensions().Len() {
		if err := dynamic.RegisterExtension(dynamicpb.NewExtensionType(foreign.Extensions().Get(i))); err != nil {
			t.Fatal(err)
		}
	}
	const want = "f is 7, must be less than 5\no is required: g must be set\n"
	for name, resolver := range map[string]*protoregistry.Types{
		"linked": protoregistry.GlobalTypes, "unknown": new(protoregistry.Types), "dynamic": dynamic,
	} {
		t.Run(name, func(t *testing.T) {
			parsed := new(descriptorpb.FileDescriptorProto)
			if err := (proto.UnmarshalOptions{Resolver: resolver}).Unmarshal(wire, parsed); err != nil {
				t.Fatal(err)
			}
			md := userMessage(t, parsed)
			if diff := cmp.Diff(want, complaintsAbout(t, md, `{"f": 7}`)); diff != "" {
				t.Error(diff)
			}
			after, err := proto.MarshalOptions{Deterministic: true}.Marshal(protodesc.ToFileDescriptorProto(md.ParentFile()))
			if err != nil {
				t.Fatal(err)
			}
			before, err := proto.MarshalOptions{Deterministic: true}.Marshal(parsed)
			if err != nil {
				t.Fatal(err)
			}
			if string(before) != string(after) {
				t.Error("the descriptor changed")
			}
		})
	}
}

// TestProto2 checks that an unset field counts as its default.
func TestProto2(t *testing.T) {
	text := `field { name: "f" number: 1 label: LABEL_OPTIONAL type: TYPE_INT32 default_value: "7" options { [validate.rules] { int32 { lt: 5 } } } }`
	if got := complaintsAbout(t, userMessage(t, userFile(t, "proto2", text)), `{}`); got != "f is 7, must be less than 5\n" {
		t.Error(got)
	}
}

// TestUnchecked covers messages that PGV is told to leave alone, on their own and in a field.
func TestUnchecked(t *testing.T) {
	for _, option := range []string{"disabled", "ignored"} {
		file := userFile(t, "proto3", fmt.Sprintf(one, "STRING", "string { min_len: 1 }")+` options { [validate.`+option+`]: true }`+
			` field { name: "g" number: 2 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".user.Sub" }`)
		file.MessageType[0].Field = append(file.MessageType[0].Field, &descriptorpb.FieldDescriptorProto{
			Name: proto.String("m"), Number: proto.Int32(2), TypeName: proto.String(".user.M"),
			Type: descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		})
		md := userMessage(t, file)
		if constraint.For(md) != nil {
			t.Errorf("%s: has a checker", option)
		}
		sub := md.ParentFile().Messages().ByName("Sub")
		if !constraint.Skip(md.Fields().ByName("g")) || !constraint.Skip(sub.Fields().ByName("m")) {
			t.Errorf("%s: not skipped", option)
		}
	}
}

// TestFalseFriends has messages named as Google's that are otherwise built: they must not make it panic.
func TestFalseFriends(t *testing.T) {
	file := new(descriptorpb.FileDescriptorProto)
	if err := prototext.Unmarshal([]byte(`
		name: "friends.proto" package: "google.protobuf" syntax: "proto3" dependency: "validate/validate.proto"
		message_type { name: "Duration" field { name: "seconds" number: 1 label: LABEL_REPEATED type: TYPE_STRING } }
		message_type { name: "Any" field { name: "type_url" number: 1 label: LABEL_OPTIONAL type: TYPE_INT32 } }
		message_type { name: "UInt32Value" field { name: "value" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING } }
		message_type { name: "M"
			field { name: "d" number: 1 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".google.protobuf.Duration"
				options { [validate.rules] { duration { gt {} } } } }
			field { name: "a" number: 2 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".google.protobuf.Any"
				options { [validate.rules] { any { in: "a" } } } }
			field { name: "u" number: 3 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".google.protobuf.UInt32Value"
				options { [validate.rules] { uint32 { gt: 1 } } } } }`), file); err != nil {
		t.Fatal(err)
	}
	m := dynamicpb.NewMessage(userMessage(t, file))
	fill(m, func(int) int { return 1 }, 2)
	if diff := cmp.Diff("d must be greater than 0s | value must be greater than 0s\n"+
		"a is a \"\", must be one of a | type URL must be in list [a]\n", lines(collect(m))); diff != "" {
		t.Error(diff)
	}
}
