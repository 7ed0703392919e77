// Package hardening holds the rules about settings that Envoy's documentation recommends for where a data plane runs. Most of them run only in a
// profile.
package hardening

import (
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

// Rules is the group. Each rule adds itself.
var Rules = &lint.Group{Name: "hardening", Summary: "what Envoy's documentation recommends for edge proxies, and for proxies behind others", Family: dataplane.Envoy}

const (
	edgeDocs     = "https://www.envoyproxy.io/docs/envoy/latest/configuration/best_practices/edge"
	timeoutsDocs = "https://www.envoyproxy.io/docs/envoy/latest/faq/configuration/timeouts"
)

// eachListener calls f for the TCP listeners to which clients on other machines connect.
func eachListener(f func(p *lint.Pass, at lint.At, l *listenerv3.Listener)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if at.Place.Parent == nil && envoy.TakesClients(l) && l.GetAddress().GetSocketAddress().GetProtocol() == corev3.SocketAddress_TCP {
			f(p, at, l)
		}
	})
}

// eachManager calls f for the connection managers of listeners to which clients on other machines connect.
func eachManager(f func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		_, chain := graph.Around[*listenerv3.FilterChain](at.Place)
		if chain != nil && takesClients(at) && envoy.OuterRead(p.Target.Extensions(), at.Place) {
			f(p, at, m)
		}
	})
}

// eachRouted calls f for the same connection managers, with their filters and routes.
func eachRouted(f func(p *lint.Pass, m managers.Manager)) lint.Check {
	return managers.All(func(p *lint.Pass, all []managers.Manager) {
		for _, m := range all {
			if takesClients(m.At) {
				f(p, m)
			}
		}
	})
}

// takesClients reports whether clients on other machines connect to the listener around a place.
func takesClients(at lint.At) bool {
	l, where := graph.Around[*listenerv3.Listener](at.Place)
	return where != nil && envoy.TakesClients(l)
}

// listens reports whether the snapshot has a listener to which clients on other machines connect.
func listens(p *lint.Pass) bool {
	return slices.ContainsFunc(p.Snapshot.All(graph.Listener), func(r *graph.Resource) bool {
		l, ok := r.Message.(*listenerv3.Listener)
		return ok && envoy.TakesClients(l)
	})
}

// write returns the edits that set a field, which may have another value already.
func write(at lint.At, field string, value any) lint.Edits {
	if edits := lint.Insert(at, field, value); edits != nil {
		return edits
	}
	return lint.Replace(at.Field(field), value)
}

// writeIn returns the edits that set fields of the message in another field, which may be missing too.
func writeIn(at lint.At, outer string, fields lint.Fields) lint.Edits {
	if edits := lint.Insert(at, outer, fields); edits != nil {
		return edits
	}
	var all []lint.Edits
	for _, f := range fields {
		all = append(all, write(at.Field(outer), f.Name, f.Value))
	}
	return lint.Together(all...)
}

// nameOf returns the type of a message.
func nameOf(m proto.Message) protoreflect.FullName { return m.ProtoReflect().Descriptor().FullName() }
