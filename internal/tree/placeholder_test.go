package tree_test

import (
	"testing"

	"github.com/xdslint/xdslint/internal/tree"
)

func TestIsPlaceholder(t *testing.T) {
	for value, want := range map[string]bool{
		"${PORT}": true, "http://${HOST}/": true, "{{ .Values.port }}": true, "$server_ip": true, "$tmpdir/cds.yaml": true, "@PORT@": true,
		"@HOST@:80": true,
		"":          false, "$": false, "$5": false, "cost$ly": false, "@": false, "a@b@c": false, "x@example.com": false, "10.0.0.1": false, "{a}": false,
	} {
		if got := tree.IsPlaceholder(value); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}
