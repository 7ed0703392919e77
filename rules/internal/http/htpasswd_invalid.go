package http

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	basicauthv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/basic_auth/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "htpasswd-invalid",
	Severity: lint.Error,
	Summary:  "the users of basic_auth are not lines of a name and a SHA-1 password",
	Links:    []string{"readHtpasswd (source/extensions/filters/http/basic_auth/config.cc)"},
	Run: read.Each(read.Of(func(p *lint.Pass, at lint.At, m *basicauthv3.BasicAuth) {
		checkUsers(p, at.Field("users"), m.GetUsers())
	}), read.Of(func(p *lint.Pass, at lint.At, m *basicauthv3.BasicAuthPerRoute) {
		checkUsers(p, at.Field("users"), m.GetUsers())
	})),
})

func checkUsers(p *lint.Pass, at lint.At, users *corev3.DataSource) {
	if users == nil {
		p.Reject(at, lint.Rejection{
			Message:  "basic_auth does not have users",
			Help:     "add users: {inline_string: …}, or a file",
			Upstream: "Unexpected DataSource::specifier_case(): 0",
		})
	}
	field, text, ok := inline(users)
	if !ok {
		return
	}
	e, is := envoy.CheckHtpasswd(text)
	if !is {
		return
	}
	message := e.What
	if e.Line > 0 {
		message = fmt.Sprintf("line %d of the users %s", e.Line, e.What)
	}
	p.Reject(at.Field(field), lint.Rejection{
		Message:  message,
		Help:     "write lines of NAME:{SHA}BASE64, as `htpasswd -s` prints them",
		Upstream: e.Upstream,
	})
}

// inline returns the text that a data source holds itself, and its field. ok is false for a file or a variable.
func inline(source *corev3.DataSource) (field, text string, ok bool) {
	switch s := source.GetSpecifier().(type) {
	case *corev3.DataSource_InlineString:
		return "inline_string", s.InlineString, true
	case *corev3.DataSource_InlineBytes:
		return "inline_bytes", string(s.InlineBytes), true
	}
	return "", "", false
}
