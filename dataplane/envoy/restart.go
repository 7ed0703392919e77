package envoy

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
)

// AfterRestart returns the note that says what an Envoy that has restarted lacks while it rejects r: it keeps the previous configuration of
// a resource only in memory. The note counts what is in r and names what refers to it. It is empty where OnReject says it all, and where
// Envoy has another resource of that name.
func AfterRestart(v graph.View, r *graph.Resource) string {
	if r.Delivery != graph.OverXDS || r.Object != nil || len(v.Named(r.Kind, r.Name)) > 1 {
		return ""
	}
	what, effect := lost(r)
	if what == "" {
		return ""
	}
	return fmt.Sprintf("after a restart, Envoy does not have %s: %s%s", what, effect, usedBy(v, r))
}

// lost says what Envoy lacks without r, and what happens then.
func lost(r *graph.Resource) (what, effect string) {
	switch m := r.Message.(type) {
	case *listenerv3.Listener:
		return fmt.Sprintf("this listener (%s)", words.Count(len(m.GetFilterChains()), "filter chain")), "connections to its address fail"
	case *routev3.RouteConfiguration:
		routes := 0
		for _, host := range m.GetVirtualHosts() {
			routes += len(host.GetRoutes())
		}
		hosts := words.Count(len(m.GetVirtualHosts()), "virtual host")
		return fmt.Sprintf("this route configuration (%s, %s)", hosts, words.Count(routes, "route")), "requests get 404 (response flag NR)"
	case *routev3.VirtualHost:
		return fmt.Sprintf("this virtual host (%s)", words.Count(len(m.GetRoutes()), "route")), "requests get 404 (response flag NR)"
	}
	switch r.Kind {
	case graph.Cluster:
		return "this cluster", "requests get 503 (response flag NC)"
	case graph.ClusterLoadAssignment:
		return "these endpoints", "requests get 503 (response flag UH)"
	case graph.Secret:
		return "this secret", "TLS connections fail"
	}
	return "", ""
}

// mostUsers is how many resources usedBy names.
const mostUsers = 3

// usedBy names the resources that refer to r, in the order of the input.
func usedBy(v graph.View, r *graph.Resource) string {
	var users []string
	seen := map[*graph.Resource]bool{r: true}
	for _, e := range v.To(r) {
		if !seen[e.From] {
			seen[e.From] = true
			users = append(users, fmt.Sprintf("%s %q", e.From.Kind, e.From.Name))
		}
	}
	if len(users) == 0 {
		return ""
	}
	return "; used by " + words.Few(users, mostUsers)
}
