package health

import (
	"fmt"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "hc-headers",
	Severity: lint.Error,
	Summary:  "a health check changes a reserved header, or sets both append and append_action",
	Links: []string{
		"HeaderParser::configure (source/common/router/header_parser.cc)",
		"HttpHealthCheckerImpl (source/extensions/health_checkers/http/health_checker_impl.cc)",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		for i, check := range c.GetHealthChecks() {
			at := at.Item("health_checks", i)
			if h := check.GetHttpHealthCheck(); h != nil {
				checkAdded(p, at.Field("http_health_check"), "request_headers_to_add", "host", h.GetRequestHeadersToAdd())
				for j, name := range h.GetRequestHeadersToRemove() {
					if envoy.ReservedHeader(name) {
						p.Reject(at.Field("http_health_check").Item("request_headers_to_remove", j), lint.Rejection{
							Message:  fmt.Sprintf("the header %q cannot be removed", name),
							Help:     "remove it",
							Upstream: ":-prefixed or host headers may not be removed",
						})
					}
				}
			}
			checkAdded(p, at.Field("grpc_health_check"), "initial_metadata", "authority", check.GetGrpcHealthCheck().GetInitialMetadata())
		}
	}),
})

// checkAdded reports invalid headers to add. host is the name of the field that replaces the host header.
func checkAdded(p *lint.Pass, at lint.At, field, host string, options []*corev3.HeaderValueOption) {
	for i, option := range options {
		at, name := at.Item(field, i), option.GetHeader().GetKey()
		if envoy.ReservedHeader(name) {
			help := "remove it"
			switch strings.ToLower(name) {
			case "host", ":authority":
				help = fmt.Sprintf("write %s in the health check", host)
			case ":path", ":method":
				help = fmt.Sprintf("write %s in the health check", name[1:])
			}
			p.Reject(at.Field("header", "key"), lint.Rejection{
				Message:  fmt.Sprintf("the header %q cannot be set here", name),
				Help:     help,
				Upstream: ":-prefixed or host headers may not be modified",
			})
		}
		if envoy.AppendsTwice(option) {
			p.Reject(at.Field("append").Key(), lint.Rejection{
				Message:  "append cannot be combined with append_action",
				Help:     "remove append",
				Upstream: "Both append and append_action are set and it's not allowed",
				Related:  []lint.Related{lint.RelatedTo(at.Field("append_action"), "the append_action")},
			})
		}
	}
}
