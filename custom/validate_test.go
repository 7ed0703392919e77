package custom_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/graph/load"
	settings "github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// auditFilter describes an HTTP filter of somebody's own, as `buf build -o audit.binpb` does.
const auditFilter = `
file {
  name: "acme/audit/v1/audit.proto"
  package: "acme.audit.v1"
  syntax: "proto3"
  dependency: "buf/validate/validate.proto"
  message_type {
    name: "Audit"
    options { [buf.validate.message] { cel {
      id: "audit.sink_or_file" message: "an audit goes either to a sink or to a file"
      expression: "has(this.sink) != has(this.file)"
    } } }
    field { name: "sink" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL proto3_optional: true oneof_index: 0 }
    field { name: "file" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL proto3_optional: true oneof_index: 1 }
    field { name: "levels" number: 3 type: TYPE_MESSAGE label: LABEL_REPEATED type_name: ".acme.audit.v1.Level" }
    field { name: "tags" number: 4 type: TYPE_MESSAGE label: LABEL_REPEATED type_name: ".acme.audit.v1.Audit.TagsEntry"
      options { [buf.validate.field] { map { values { string { min_len: 2 } } } } } }
    nested_type {
      name: "TagsEntry" options { map_entry: true }
      field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
      field { name: "value" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
    }
    oneof_decl { name: "_sink" }
    oneof_decl { name: "_file" }
  }
  message_type {
    name: "Level"
    field { name: "percent" number: 1 type: TYPE_UINT32 label: LABEL_OPTIONAL options { [buf.validate.field] { uint32 { lte: 100 } } } }
  }
}
`

func ownTypes(t *testing.T) decode.Types {
	t.Helper()
	set := new(descriptorpb.FileDescriptorSet)
	if err := prototext.Unmarshal([]byte(auditFilter), set); err != nil {
		t.Fatal(err)
	}
	raw, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	known, err := load.Descriptors(raw)
	if err != nil {
		t.Fatal(err)
	}
	return known
}

const audited = `name: audit
typed_config:
  "@type": type.googleapis.com/acme.audit.v1.Audit
  sink: kafka
  file: /var/log/audit
  levels:
  - percent: 20
  - percent: 120
  tags: {a: shop, b: x}
`

// TestOwnDescriptors: rules of buf.validate in a user's descriptors hold at any depth, with the places of the fields; so do constraints on the user's types.
func TestOwnDescriptors(t *testing.T) {
	known := ownTypes(t)
	input, err := load.Texts(t.Context(), map[string][]byte{"audit.yaml": []byte("\"@type\": type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig\n" + audited)}, load.Options{Types: known})
	if err != nil {
		t.Fatal(err)
	}
	config := "constraints:\n- {id: acme/level, message: acme.audit.v1.Level, field: percent, expression: 'this != 20u', text: twenty is too little}\n"
	s, err := settings.Parse(&source.File{Name: settings.FileName, Text: []byte(config)}, rules.All(), custom.Constraints(rules.All(), known))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	result := lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: append(custom.Rules(lint.Custom.Rules()), s.Custom...)})
	if err := report.Concise(&b, &report.Report{Result: result}); err != nil {
		t.Fatal(err)
	}
	want := `audit.yaml:4:3: error[house/invalid-message]: an audit goes either to a sink or to a file
audit.yaml:8:14: error[acme/level]: twenty is too little
audit.yaml:9:14: error[house/invalid-message]: must be less than or equal to 100
audit.yaml:10:22: error[house/invalid-message]: must be at least 2 characters
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
