package route

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/ascii"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "reserved-header",
	Severity: lint.Error,
	Summary:  "a route adds, removes or copies the host or a header that begins with a colon",
	Links: []string{
		"HeaderParser::configure (source/common/router/header_parser.cc)",
		"https://github.com/kgateway-dev/kgateway/issues/14264",
	},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		switch m.Descriptor().FullName() {
		case "envoy.config.core.v3.HeaderValueOption":
			if option, ok := m.Interface().(*corev3.HeaderValueOption); ok && headersToAdd[string(holder(at))] {
				checkReserved(p, at.Field("header", "key"), option.GetHeader().GetKey(), "modified")
			}
		case "envoy.config.route.v3.InternalRedirectPolicy":
			policy, ok := m.Interface().(*routev3.InternalRedirectPolicy)
			if !ok || holder(at) != "envoy.config.route.v3.RouteAction.internal_redirect_policy" {
				return
			}
			for i, name := range policy.GetResponseHeadersToCopy() {
				checkReserved(p, at.Item("response_headers_to_copy", i), name, "copied")
			}
		case "envoy.config.route.v3.RouteConfiguration", "envoy.config.route.v3.VirtualHost", "envoy.config.route.v3.Route",
			"envoy.config.route.v3.WeightedCluster.ClusterWeight":
			for _, field := range []string{"request_headers_to_remove", "response_headers_to_remove"} {
				fd := m.Descriptor().Fields().ByName(protoreflect.Name(field))
				if fd == nil || !fd.IsList() {
					continue
				}
				names := m.Get(fd).List()
				for i := range names.Len() {
					checkReserved(p, at.Item(field, i), names.Get(i).String(), "removed")
				}
			}
		}
	}, "envoy.config.core.v3.HeaderValueOption", "envoy.config.route.v3.InternalRedirectPolicy", "envoy.config.route.v3.RouteConfiguration",
		"envoy.config.route.v3.VirtualHost", "envoy.config.route.v3.Route", "envoy.config.route.v3.WeightedCluster.ClusterWeight"),
})

// checkReserved reports a header that a route table cannot change (HeaderUtility::isModifiableHeader, isRemovableHeader).
func checkReserved(p *lint.Pass, at lint.At, name, verb string) {
	if !envoy.ReservedHeader(name) {
		return
	}
	if _, ok := tableOf(p, at); !ok {
		return
	}
	help := "remove it"
	switch {
	case verb != "modified":
	case ascii.Lower(name) == "host", ascii.Lower(name) == ":authority":
		help = "write host_rewrite_literal, host_rewrite_header or auto_host_rewrite in the route"
	case ascii.Lower(name) == ":path":
		help = "write prefix_rewrite or regex_rewrite in the route"
	}
	upstream := fmt.Sprintf(":-prefixed or host headers may not be %s", verb)
	if verb == "copied" {
		upstream = ":-prefixed headers or Hosts may not be specified here."
	}
	p.Reject(at, lint.Rejection{
		Message:  fmt.Sprintf("the header %q cannot be %s by a route table", name, verb),
		Help:     help,
		Upstream: upstream,
	})
}
