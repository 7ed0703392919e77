package redact_test

import (
	"testing"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// Whatever a text says, redacting it does not panic, leaves a text that can be read, and leaves nothing to redact.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"tls_certificate": {"private_key": {"inline_string": "x"}, "password": "y", "pkcs12": [null, {"inline_bytes": 3}]}}`,
		`{"@type": "a/google.protobuf.Struct", "value": {"token": "x", "a": [{"@type": "b/google.protobuf.Any"}]}}`,
		`{'generic_secret': {secret: {inline_string: "\ud83d\ude00", environment_variable: 'X'}, }, }`,
		`[{"session_ticket_keys": {"keys": [{"inline_bytes": "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t"}]}}, "Bearer abcdefghijklmnopqrst"]`,
		`{"name": {"@type": "x/xds.type.v3.TypedStruct", "type_url": [], "value": {"password": "x"}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read := func(text []byte) *tree.Node {
			docs, err := syntax.ParseJSON(&source.File{Text: text})
			if err != nil || len(docs) == 0 {
				return nil
			}
			return docs[0]
		}
		n := read([]byte(text))
		if n == nil {
			return
		}
		for _, message := range []string{"envoy.extensions.transport_sockets.tls.v3.Secret", "google.protobuf.Any", "acme.Unknown"} {
			name := decode.TypeName(message)
			clean := redact.JSON([]byte(text), n, name, types.Envoy)
			again := read(clean)
			if again == nil {
				t.Fatalf("%q became %q", text, clean)
			}
			if twice := redact.JSON(clean, again, name, types.Envoy); string(twice) != string(clean) {
				t.Errorf("%q became %q, then %q", text, clean, twice)
			}
		}
	})
}

// The same holds of any text that people have.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"a: &b {password: x}\nb: *b # token: y\n", "password: |2-\n    x\n  y\n# -----BEGIN PRIVATE KEY-----\n#x\n", "? [password]\n: x\n", "password: !!str\n  x\n",
		"kind: Secret\ndata: {a: b}\n---\n- {\"token\": 'it''s'}\n", "a: |\n  {\"secret\": \"x\"}\n", "{'token': \"\\u0041\", }", "a: >\n  Bearer abcdefghijklmnopqrst\n  x\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"a.yaml", "a.json"} {
			readable := func(text []byte) bool {
				parse := map[string]func(*source.File) ([]*tree.Node, error){"a.yaml": syntax.ParseYAML, "a.json": syntax.ParseJSON}[name]
				_, err := parse(&source.File{Text: text})
				return err == nil
			}
			clean, found := redact.Text(name, []byte(text), types.Envoy)
			if len(found) == 0 && string(clean) != text {
				t.Errorf("%q became %q, and nothing is found", text, clean)
			}
			if readable([]byte(text)) && !readable(clean) {
				t.Errorf("%q became %q", text, clean)
			}
		}
	})
}
