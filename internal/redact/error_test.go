package redact_test

import (
	"testing"

	"github.com/xdslint/xdslint/internal/redact"
)

// TestError: of a message that an error quotes, only names and numbers are left. TestQuoted of package recorder has one of
// a real Envoy.
func TestError(t *testing.T) {
	for text, want := range map[string]string{
		"no cluster \"shop\": it has a port: \"80\"": "no cluster \"shop\": it has a port: \"[redacted]\"",
		"name: \"web\"\nheader {\n  key: \"authorization\"\n  value: \"hunter\\\"2\"\n}\n: RouteValidationError": "name: \"web\"\n" +
			"header {\n  key: \"[redacted]\"\n  value: \"[redacted]\"\n}\n: RouteValidationError",
		`cluster_name:"shop" password { inline_string: "hunter2\` + "": `cluster_name:"shop" password { inline_string: "[redacted]"`,
		`inline_string: "hun`:                            `inline_string: "[redacted]"`,
		"error adding listener 'web': address is in use": "error adding listener 'web': address is in use",
	} {
		if got := redact.Error(text); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
