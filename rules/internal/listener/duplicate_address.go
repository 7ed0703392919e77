package listener

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "duplicate-address",
	Severity: lint.Error,
	Summary:  "two listeners have the same address",
	Links: []string{
		"ListenerManagerImpl::setNewOrDrainingSocketFactory, ListenerImpl::hasDuplicatedAddress (source/common/listener_manager/listener_impl.cc)",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		names := map[server]map[string]int{}
		for _, r := range p.Snapshot.All(graph.Listener) {
			if r.Name != "" {
				s := serverOf(r)
				if names[s] == nil {
					names[s] = map[string]int{}
				}
				names[s][r.Name]++
			}
		}
		taken := map[socket]claim{}
		for _, r := range p.Snapshot.All(graph.Listener) {
			l, ok := r.Message.(*listenerv3.Listener)
			// Of listeners with the same name, Envoy builds only one: see schema/duplicate-name.
			if !ok || r.State != "" || !built(l) || l.GetInternalListener() != nil || names[serverOf(r)][r.Name] > 1 {
				continue
			}
			claims(p, taken, r, l)
		}
	}),
})

// server is the scope in which an address is unique: one source in one file.
type server struct {
	file   *graph.SourceFile
	from   graph.Source
	booted bool
}

func serverOf(r *graph.Resource) server {
	return server{r.File, r.Source, r.Delivery == graph.FromBootstrap}
}

type socket struct {
	envoy.ListenSocket
	server   server
	datagram bool
}

type claim struct {
	listener *graph.Resource
	at       lint.At
	binds    bool
}

func claims(p *lint.Pass, taken map[socket]claim, r *graph.Resource, l *listenerv3.Listener) {
	at := r.At()
	places := []lint.At{at.Field("address")}
	addresses := []*corev3.Address{l.GetAddress()}
	for i, a := range l.GetAdditionalAddresses() {
		places = append(places, at.Item("additional_addresses", i).Field("address"))
		addresses = append(addresses, a.GetAddress())
	}
	own := map[socket]claim{}
	reported := false
	for i, a := range addresses {
		bound, ok := envoy.ListenSocketOf(a)
		if !ok {
			continue
		}
		s := socket{bound, serverOf(r), overUDP(l)}
		before, twice := taken[s]
		// With port 0, each listener gets another port, if the first one binds at all.
		if twice && !reported && (s.Port != 0 || isPipe(a) || !before.binds) {
			reported = true // Envoy rejects the listener once
			p.Report(places[i], lint.Diagnostic{
				Message:  fmt.Sprintf("listener %q has the same address", before.listener.Name),
				Notes:    []string{"Envoy rejects the second listener with the same address"},
				Help:     "use another address or port, or move its filter chains to the first listener",
				Rejected: true, Upstream: fmt.Sprintf("error adding listener: '%s' has duplicate address", r.Name),
				Related: []lint.Related{lint.RelatedTo(before.at, "the first one")},
			})
		}
		own[s] = claim{r, places[i], binds(l)}
	}
	for s, c := range own { // Envoy does not compare addresses within one listener
		if _, twice := taken[s]; !twice {
			taken[s] = c
		}
	}
}

func binds(l *listenerv3.Listener) bool {
	old := l.GetDeprecatedV1().GetBindToPort() //nolint:staticcheck // Envoy reads it
	return (l.GetBindToPort() == nil || l.GetBindToPort().GetValue()) && (old == nil || old.GetValue())
}

func isPipe(a *corev3.Address) bool { return a.GetPipe() != nil }
