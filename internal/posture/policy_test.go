package posture

import (
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/walk"
)

// TestPolicies: what is a policy, and which requests it is about.
func TestPolicies(t *testing.T) {
	for _, test := range []struct {
		text, host, path string
		about            bool
		err              string
	}{
		{text: "mtls on admin.example.com/**", host: "Admin.example.com:8443", path: "/x?y", about: true},
		{text: "mtls on [2001:db8::1]/**", host: "[2001:db8::1]:80", path: "/", about: true},
		{text: "mtls on [2001:db8::1]/**", host: "[2001:db8::2]:80", path: "/"},
		{text: "rbac on *.example.com/a/*", host: "x.example.com", path: "/a/b", about: true},
		{text: "rbac on *.example.com/a/*", host: "example.com", path: "/a/b"},
		{text: "rbac on *.example.com/a/*", host: "x.example.com", path: "/a/b/c"},
		{text: "rbac on */**  except /health, /public/**", host: "x", path: "/public"},
		{text: "rbac on */**  except /health, /public/**", host: "x", path: "/publicx", about: true},
		{text: "rbac on a.(b)+/**", host: "a.b", path: "/"},
		{text: "rbac on bücher.example/**", err: "xn--bcher-kva.example"},
		{text: "rbac on a.example:443/**", err: "has a port"},
		{text: "rbac on a.example/x?y", err: "query"},
		{text: "rbac on a.example/** except /x#y", err: "query"},
		{text: "rbac on /x", err: "is not GUARD"},
		{text: "rbac a.example/x", err: "is not GUARD"},
		{text: "rbac on a.example/** except ", err: "is not GUARD"},
		{text: "jwt on a.example/**", err: "no guard is named"},
	} {
		p, err := parsePolicy(test.text)
		if test.err != "" || err != nil {
			if err == nil || test.err == "" || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, want %q", test.text, err, test.err)
			}
			continue
		}
		if got := p.about(&walk.Request{Authority: &test.host, Path: &test.path}); got != test.about {
			t.Errorf("%s: %s%s: %v", test.text, test.host, test.path, got)
		}
	}
}
