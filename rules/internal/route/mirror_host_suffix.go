package route

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "mirror-host-suffix",
	Severity: lint.Info,
	Summary:  "requests are mirrored to a server with a public name, with another host",
	Links: []string{
		"ShadowWriterImpl::shadow (source/common/router/shadow_writer_impl.cc)",
		"https://github.com/envoyproxy/envoy/issues/9094",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.RouteAction_RequestMirrorPolicy) {
		if m.GetDisableShadowHostSuffixAppend() || len(m.GetRequestHeadersMutations()) > 0 {
			return
		}
		u, ok := upstreamOf(p, m.GetCluster())
		if !ok {
			return
		}
		name := check.PublicName(u.cluster)
		if name == "" {
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		p.Report(at, lint.Diagnostic{
			Message: fmt.Sprintf("%s gets the host of the client with -shadow at its end", name),
			Notes:   []string{"a server that has several sites does not know that host, and answers 404 or 421; Envoy drops the answer"},
			Help:    "add disable_shadow_host_suffix_append: true, or set :authority by request_headers_mutations",
			Fixes:   lint.Insert(at, "disable_shadow_host_suffix_append", true).Likely("send the host of the client"),
		})
	}),
})
