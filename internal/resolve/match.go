package resolve

import (
	"fmt"
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/grpc"
)

// findHost returns the index of the virtual host, or -1.
func (w *walk) findHost() int {
	all := w.table.GetVirtualHosts()
	hosts := grpc.HostsOf(w.table)
	if i := hosts.Invalid; i >= 0 {
		w.answer.Passed = []Passed{{hostName(all[i], i), fmt.Sprintf("%q is not a domain, for which the client uses no virtual host", hosts.Domain)}}
		return -1
	}
	best := hosts.Of(w.host)
	for i, host := range all {
		if i != best {
			w.answer.Passed = append(w.answer.Passed, Passed{hostName(host, i), whyNot(host, w.host)})
		}
	}
	return best
}

func hostName(host *routev3.VirtualHost, i int) string {
	if host.GetName() == "" {
		return fmt.Sprintf("virtual_hosts[%d]", i)
	}
	return host.GetName()
}

// whyNot says why a virtual host does not take the RPCs to a host.
func whyNot(h *routev3.VirtualHost, host string) string {
	if slices.ContainsFunc(h.GetDomains(), func(domain string) bool { return grpc.FitsDomain(domain, host) }) {
		return "another domain fits better"
	}
	return "no domain fits " + host
}

// mismatch says why a route does not take an RPC, or returns "" (routesProtoToSlice, CompositeMatcher.Match). A fraction is not looked at.
func (w *walk) mismatch(r *routev3.Route) string {
	m := r.GetMatch()
	switch {
	case len(m.GetQueryParameters()) > 0:
		return "gRPC drops routes that match query parameters"
	case droppedFor(r.GetRoute()) != "":
		return "gRPC drops routes with " + droppedFor(r.GetRoute())
	case !grpc.MatchesPath(m, w.rpc.Method):
		return "the path does not fit"
	}
	for _, h := range m.GetHeaders() {
		if !grpc.MatchesHeader(h, w.metadata) {
			return fmt.Sprintf("the header %q does not fit", h.GetName())
		}
	}
	return ""
}

// droppedFor returns the kind of a destination for which a client drops a route. A plugin that the client has is not among them: programs
// without more imports have none.
func droppedFor(a *routev3.RouteAction) string {
	switch a.GetClusterSpecifier().(type) {
	case *routev3.RouteAction_Cluster, *routev3.RouteAction_WeightedClusters:
		return ""
	case *routev3.RouteAction_ClusterSpecifierPlugin:
		return "a cluster specifier plugin that is not known"
	case nil:
		if a == nil {
			return ""
		}
		return "no cluster"
	}
	return "a destination that it does not know"
}
