package redact

import (
	"maps"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/xdslint/xdslint/internal/decode/linked"
)

// TestNames: every name by which secrets are guessed is that of a sensitive field somewhere.
func TestNames(t *testing.T) {
	marked, left := map[string]bool{}, maps.Clone(unmarked)
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		fields := mt.Descriptor().Fields()
		for i := range fields.Len() {
			if Sensitive(fields.Get(i)) {
				delete(left, fields.Get(i).FullName())
				marked[string(fields.Get(i).Name())], marked[fields.Get(i).JSONName()] = true, true
			}
		}
		return true
	})
	for name := range names {
		if !marked[name] {
			t.Errorf("%s is no sensitive field", name)
		}
	}
	for name := range left {
		t.Errorf("%s is no field", name)
	}
	if len(marked) < 20 {
		t.Errorf("only %d sensitive fields", len(marked))
	}
}

// TestUnmarked: every field whose name says that it holds a secret counts as sensitive, also if Envoy's protos do not mark it.
func TestUnmarked(t *testing.T) {
	const cookies = "envoy.extensions.filters.http.oauth2.v3.OAuth2Credentials.CookieNames" // holds names
	tried := 0
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		md := mt.Descriptor()
		fields := md.Fields()
		for i := range fields.Len() {
			fd := fields.Get(i)
			text := fd.Kind() == protoreflect.StringKind || fd.Kind() == protoreflect.BytesKind || fd.Message() != nil && fd.Message().FullName() == dataSource
			if !text || !isKey(string(fd.Name()), "", true) && fd.Name() != "json_key" || !strings.HasPrefix(string(md.FullName()), "envoy.") || md.FullName() == cookies {
				continue
			}
			tried++
			if !Sensitive(fd) {
				t.Errorf("%s is shown", fd.FullName())
			}
		}
		return true
	})
	if tried < 20 {
		t.Errorf("only %d fields", tried)
	}
}

func TestLooks(t *testing.T) {
	for text, secret := range map[string]bool{
		"authorization: Bearer abcdefghijklmnop.qrs": true,
		"token: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.x": true,
		"key: -----BEGIN RSA PRIVATE KEY-----":       true,
		"basic authentication failed":                false,
		"bearer tokens are checked":                  false,
		"-----BEGIN CERTIFICATE-----":                false,
	} {
		if looksSecret([]byte(text)) != secret {
			t.Errorf("%q: %v", text, !secret)
		}
	}
}
