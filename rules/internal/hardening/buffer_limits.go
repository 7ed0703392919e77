package hardening

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "buffer-limits",
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Info},
	Summary:  "each connection may buffer 1 MiB, where the documentation recommends 32 KiB for edge proxies",
	Links: []string{
		edgeDocs,
		"https://www.envoyproxy.io/docs/envoy/latest/faq/configuration/flow_control",
	},
	Run: lint.EachResource(func(p *lint.Pass, r *graph.Resource) {
		switch m := r.Message.(type) {
		case *listenerv3.Listener:
			tcp := m.GetAddress().GetSocketAddress().GetProtocol() == corev3.SocketAddress_TCP
			if m.GetPerConnectionBufferLimitBytes() == nil && tcp && envoy.TakesClients(m) {
				unlimited(p, r, "each connection of a client may buffer 1 MiB")
			}
		case *clusterv3.Cluster:
			if m.GetPerConnectionBufferLimitBytes() == nil && p.Snapshot.Serves(r) && listens(p) {
				unlimited(p, r, "each connection to an endpoint may buffer 1 MiB")
			}
		}
	}, graph.Listener, graph.Cluster),
})

func unlimited(p *lint.Pass, r *graph.Resource, message string) {
	p.ReportResource(r, lint.Diagnostic{
		Message: message,
		Notes:   []string{"many clients with large or slow bodies then use up the memory"},
		Help:    "set per_connection_buffer_limit_bytes: 32768; larger if filters or retries buffer larger bodies",
		Fixes:   lint.Insert(r.At(), "per_connection_buffer_limit_bytes", 32768).Likely("use the documented limit"),
	})
}
