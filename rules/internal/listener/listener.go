// Package listener holds the rules about listeners: their addresses, their filter chains, and how Envoy chooses a chain.
package listener

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

// Rules is the group; each rule adds itself.
var Rules = &lint.Group{Name: "listener", Summary: "listeners: addresses, filter chains and how Envoy chooses one", Family: dataplane.Envoy}

const typeURLPrefix = "type.googleapis.com/"

// each runs f for the listeners that Envoy would build: not for an api_listener, which the server does not support, and not
// for one that is already running.
func each(f func(p *lint.Pass, at lint.At, l *listenerv3.Listener)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if at.Place.Parent == nil && at.Resource().State == "" && built(l) {
			f(p, at, l)
		}
	})
}

// eachRunning runs f for the listeners that Envoy would build, and for those that it runs.
func eachRunning(f func(p *lint.Pass, at lint.At, l *listenerv3.Listener)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if at.Place.Parent == nil && at.Resource().State != graph.Failed && built(l) {
			f(p, at, l)
		}
	})
}

func built(l *listenerv3.Listener) bool {
	return l.GetApiListener() == nil && (l.GetInternalListener() != nil || l.GetAddress() != nil)
}

// misplaced reports whether a field that a listener lacks was given under an unknown key, in the listener or, one level too high,
// next to the only static one. Then the unknown key is the mistake.
func misplaced(p *lint.Pass, at lint.At, field protoreflect.Name) bool {
	if check.UnderUnknownKey(at.Resource(), at.Path(), field) {
		return true
	}
	_, bootstrap := p.Snapshot.Bootstrap()
	if bootstrap == nil || at.Resource().Source != graph.Static {
		return false
	}
	above := bootstrap.ProblemsIn((*graph.Path)(nil).Field("static_resources"))
	static := 0
	for _, r := range p.Snapshot.All(graph.Listener) {
		if r.Source == graph.Static {
			static++
		}
	}
	return static == 1 && slices.ContainsFunc(above, func(problem graph.Problem) bool {
		return problem.Kind == graph.UnknownField && problem.Name == string(field)
	})
}

// datagram reports whether an address has that socket type (Utility::protobufAddressSocketType).
func datagram(a *corev3.Address) bool {
	return a.GetSocketAddress().GetProtocol() == corev3.SocketAddress_UDP
}

// overUDP reports whether the listener's sockets are UDP.
func overUDP(l *listenerv3.Listener) bool {
	return l.GetInternalListener() == nil && datagram(l.GetAddress())
}

// overQUIC reports whether the listener speaks QUIC. Where Envoy does not build sockets, it checks only quicOptions.
func overQUIC(l *listenerv3.Listener) bool { return overUDP(l) && quicOptions(l) }

func quicOptions(l *listenerv3.Listener) bool {
	return l.GetUdpListenerConfig().GetQuicOptions() != nil
}

// chain is a filter chain and its place.
type chain struct {
	*listenerv3.FilterChain
	at lint.At
}

// chains returns all filter chains, the default one last.
func chains(at lint.At, l *listenerv3.Listener) []chain {
	var all []chain
	for i, c := range l.GetFilterChains() {
		all = append(all, chain{c, at.Item("filter_chains", i)})
	}
	if c := l.GetDefaultFilterChain(); c != nil {
		all = append(all, chain{c, at.Field("default_filter_chain")})
	}
	return all
}

// factoryType returns the type by which Envoy looks an extension up: that of the configuration, or the one that a TypedStruct
// names. The content is nil if it could not be decoded.
func factoryType(at lint.At, config *anypb.Any) (name protoreflect.FullName, content proto.Message) {
	name = decode.TypeName(config.GetTypeUrl())
	if config == nil || !decode.IsTypedStruct(name) {
		if config != nil {
			content = at.Content(config)
		}
		return name, content
	}
	wrapper := at.Content(config)
	if wrapper == nil {
		return "", nil
	}
	m := wrapper.ProtoReflect()
	fields := m.Descriptor().Fields()
	name = decode.TypeName(m.Get(fields.ByName("type_url")).String())
	return name, at.Content(m.Get(fields.ByName("value")).Message().Interface())
}

// known reports whether a type configures an extension of a category of the target.
func known(p *lint.Pass, name protoreflect.FullName, category string) bool {
	for _, e := range p.Target.Extensions().ByTypeURL(string(name)) {
		if e.Category == category {
			return true
		}
	}
	return false
}

// takesAll reports whether a listener has one filter chain, which takes all connections.
func takesAll(l *listenerv3.Listener) bool {
	chains := l.GetFilterChains()
	return len(chains) == 1 && chains[0].GetFilterChainMatch() == nil
}
