package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ipv6-only",
	Severity: lint.Info,
	Summary:  "a listener on :: does not accept IPv4",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/core/v3/address.proto#config-core-v3-socketaddress",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		if p.Snapshot.Partial() {
			return
		}
		type place struct {
			at     lint.At
			socket envoy.ListenSocket
		}
		var onlyIPv6 []place
		bound := map[envoy.ListenSocket]bool{}
		for _, r := range p.Snapshot.All(graph.Listener) {
			l, ok := r.Message.(*listenerv3.Listener)
			if !ok || !built(l) {
				continue
			}
			for _, a := range addresses(r.At(), l) {
				socket, known := envoy.ListenSocketOf(a.Address)
				if bound[socket] = true; !known || socket.Address != "::" || a.GetSocketAddress().GetIpv4Compat() || r.State != "" || !envoy.Binds(l) {
					continue
				}
				onlyIPv6 = append(onlyIPv6, place{a.at.Field("socket_address"), socket})
			}
		}
		for _, own := range onlyIPv6 {
			if own.socket.Address = "0.0.0.0"; bound[own.socket] {
				continue
			}
			p.Report(own.at.Field("address"), lint.Diagnostic{
				Message: "clients that use IPv4 cannot connect",
				Notes:   []string{"Envoy binds :: for IPv6 alone"},
				Help:    "add ipv4_compat: true, unless only IPv6 is meant",
				Fixes:   lint.Insert(own.at, "ipv4_compat", true).Likely("add ipv4_compat: true"),
			})
		}
	}),
})
