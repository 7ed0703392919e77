package route

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "identity-header-appended",
	Severity: lint.Warning,
	Summary:  "a header with the verified identity of a client is appended to what the client itself sent",
	Links: []string{
		"HeaderParser::evaluateHeaders (source/common/router/header_parser.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/core/v3/base.proto#enum-config-core-v3-headervalueoption-headerappendaction",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *corev3.HeaderValueOption) {
		name := strings.ToLower(m.GetHeader().GetKey())
		if !strings.HasSuffix(string(holder(at)), ".request_headers_to_add") || !appends(m) || name == "x-forwarded-for" || !identity().MatchString(m.GetHeader().GetValue()) {
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		own := at.Field("append_action")
		fixes := lint.Insert(at, "append_action", "OVERWRITE_IF_EXISTS_OR_ADD")
		if m.GetAppend() != nil {
			own, fixes = at.Field("append"), lint.Replace(at.Field("append"), false)
		}
		p.Report(own, lint.Diagnostic{
			Message: fmt.Sprintf("the upstream gets the %s of the client first, and this one after it", m.GetHeader().GetKey()),
			Notes:   []string{"the default of append_action appends: a client that sends the header itself claims another identity"},
			Help:    "add append_action: OVERWRITE_IF_EXISTS_OR_ADD",
			Fixes:   fixes.Likely("overwrite what the client sent"),
		})
	}),
})

// identity is a command for what Envoy has verified or seen of a client.
var identity = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`%(DOWNSTREAM_(PEER|REMOTE|DIRECT_REMOTE)_[A-Z_]+|DYNAMIC_METADATA\(\s*envoy\.filters\.http\.(jwt_authn|ext_authz|rbac)\b)`)
})

// appends reports whether a header is added to the values that a request already has.
func appends(m *corev3.HeaderValueOption) bool {
	if m.GetAppend() != nil {
		return m.GetAppend().GetValue()
	}
	return m.GetAppendAction() == corev3.HeaderValueOption_APPEND_IF_EXISTS_OR_ADD
}
