package secret_test

import (
	"testing"

	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/graph/decode/types"
	"github.com/xdslint/xdslint/graph/source"
	"github.com/xdslint/xdslint/lint/secret"
)

// Whatever a text says, redacting it does not panic, leaves a text that can be read, and leaves nothing to redact.
func FuzzRedact(f *testing.F) {
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
		read := func(text []byte) *decode.Node {
			docs, err := decode.ParseJSON(&source.File{Text: text})
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
			clean := secret.Redact([]byte(text), n, name, types.Envoy)
			again := read(clean)
			if again == nil {
				t.Fatalf("%q became %q", text, clean)
			}
			if twice := secret.Redact(clean, again, name, types.Envoy); string(twice) != string(clean) {
				t.Errorf("%q became %q, then %q", text, clean, twice)
			}
		}
	})
}
