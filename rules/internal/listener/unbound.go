package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "unbound",
	Severity: lint.Warning,
	Summary:  "a listener binds no port, and no other listener hands connections to it",
	Links: []string{
		"ActiveTcpSocket::newConnection (source/common/listener_manager/active_tcp_socket.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/listener/v3/listener.proto",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		if b, _ := p.Snapshot.Bootstrap(); b == nil || p.Snapshot.Partial() || p.Snapshot.Unread(graph.Listener) || b.GetDynamicResources().GetLdsConfig() != nil {
			return // other listeners may hand over connections
		}
		var unbound []lint.At
		for _, r := range p.Snapshot.All(graph.Listener) {
			l, ok := r.Message.(*listenerv3.Listener)
			switch {
			case !ok || !built(l) || l.GetInternalListener() != nil:
			case !envoy.ListenerFiltersOf(r.At(), l).Lack(envoy.OriginalDst):
				return
			case !envoy.Binds(l) && r.State == "":
				unbound = append(unbound, bindField(r.At(), l))
			}
		}
		for _, own := range unbound {
			p.Report(own, lint.Diagnostic{
				Message: "nothing listens here: no other listener hands connections to this one",
				Notes:   []string{"a listener with the listener filter original_dst hands a connection to the listener of its original address"},
				Help:    "remove bind_to_port, or add the listener filter original_dst to the listener that gets the redirected connections",
				Fixes:   lint.Remove(own).Likely("bind the port"),
			})
		}
	}),
})

func bindField(at lint.At, l *listenerv3.Listener) lint.At {
	if l.GetBindToPort() != nil {
		return at.Field("bind_to_port")
	}
	return at.Field("deprecated_v1")
}
