package envoy

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/graph"
)

// Drain is what an update of a listener does to the connections that it has.
type Drain struct {
	Listener *graph.Resource // as it was
	All      bool            // the listener goes, or is replaced as a whole
	Chains   []DrainedChain  // unless All: those that change or go
	Why      string          // of All: the field for which Envoy replaces the listener; empty where it goes
}

// DrainedChain is a filter chain of the listener as it was.
type DrainedChain struct {
	Path    *graph.Path
	Message *listenerv3.FilterChain
}

// Name of the chain as people call it: its own, else its place.
func (c DrainedChain) Name() string {
	if c.Message.GetName() != "" {
		return c.Message.GetName()
	}
	return c.Path.String()
}

// None tells that no connection is drained.
func (d Drain) None() bool { return !d.All && len(d.Chains) == 0 }

// Covers tells whether the connections that a place of the old listener serves are drained.
func (d Drain) Covers(path *graph.Path) bool {
	if d.All {
		return true
	}
	for ; path != nil; path = path.Parent() {
		for _, chain := range d.Chains {
			if path.String() == chain.Path.String() {
				return true
			}
		}
	}
	return false
}

// DrainOf a listener's change: which connections drain (ListenerImpl::supportUpdateFilterChain, diffFilterChain). An added one drains none, and
// neither does an update that Envoy refuses.
func DrainOf(change *graph.Change) Drain {
	if change.Added() || ReusePortFlips(change) {
		return Drain{}
	}
	d := Drain{Listener: change.Old}
	before, isListener := change.Old.Message.(*listenerv3.Listener)
	if change.Removed() || !isListener {
		d.All = true
		return d
	}
	after, _ := change.New.Message.(*listenerv3.Listener)
	if d.Why = outside(change, before, after); d.Why != "" {
		d.All = true
		return d
	}
	d.Chains = gone(change, before, after)
	return d
}

// ReusePortFlips tells of an update that changes whether the listener's sockets share their port, which Envoy refuses
// (ListenerManagerImpl::setupSocketFactoryForListener).
func ReusePortFlips(change *graph.Change) bool {
	if !change.Changed() {
		return false
	}
	before, _ := change.Old.Message.(*listenerv3.Listener)
	after, _ := change.New.Message.(*listenerv3.Listener)
	return ReusesPort(before) != ReusesPort(after)
}

// ReusesPort is what enable_reuse_port comes to (ListenerImpl::getReusePortOrDefault); true is the default.
func ReusesPort(l *listenerv3.Listener) bool {
	return l.GetEnableReusePort() == nil || l.GetEnableReusePort().GetValue()
}

// outside names what keeps an update from being in place: Envoy then replaces the whole listener.
func outside(change *graph.Change, before, after *listenerv3.Listener) string {
	if before.GetFcdsConfig() != nil {
		return "fcds_config"
	}
	old, now := side{change.Old, before.ProtoReflect()}, side{change.New, after.ProtoReflect()}
	fields := before.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		switch fd := fields.Get(i); fd.Name() {
		case "filter_chains", "default_filter_chain", "filter_chain_matcher":
		default:
			if !equalField(fd, old, now) {
				return string(fd.Name())
			}
		}
	}
	if len(after.GetFilterChains()) == 0 {
		return "default_filter_chain"
	}
	if usesProxyProto(before) != usesProxyProto(after) {
		return "filter_chains"
	}
	return ""
}

// usesProxyProto tells of a field of filter chains that in truth makes a listener filter.
func usesProxyProto(l *listenerv3.Listener) bool {
	chain := l.GetDefaultFilterChain()
	if chains := l.GetFilterChains(); len(chains) > 0 {
		chain = chains[0]
	}
	return chain.GetUseProxyProto().GetValue() //nolint:staticcheck // Envoy reads it
}

// gone lists the chains that the new listener does not have just so.
func gone(change *graph.Change, before, after *listenerv3.Listener) []DrainedChain {
	var kept []proto.Message
	for _, chain := range after.GetFilterChains() {
		kept = append(kept, change.New.CanonicalOf(chain))
	}
	var chains []DrainedChain
	var root *graph.Path
	for i, chain := range before.GetFilterChains() {
		if !among(kept, change.Old.CanonicalOf(chain)) {
			chains = append(chains, DrainedChain{root.Item("filter_chains", i), chain})
		}
	}
	if chain := before.GetDefaultFilterChain(); chain != nil {
		kept = nil
		if after.GetDefaultFilterChain() != nil {
			kept = append(kept, change.New.CanonicalOf(after.GetDefaultFilterChain()))
		}
		if !among(kept, change.Old.CanonicalOf(chain)) {
			chains = append(chains, DrainedChain{root.Field("default_filter_chain"), chain})
		}
	}
	return chains
}

func among(all []proto.Message, one proto.Message) bool {
	for _, each := range all {
		if proto.Equal(each, one) {
			return true
		}
	}
	return false
}

// Summary says in a few words what drains.
func (d Drain) Summary() string {
	switch {
	case d.None():
		return "no connection drains"
	case d.All:
		return fmt.Sprintf("all connections of listener %q drain", d.Listener.Name)
	case len(d.Chains) == 1:
		return fmt.Sprintf("the connections of filter chain %q of listener %q drain", d.Chains[0].Name(), d.Listener.Name)
	}
	return fmt.Sprintf("the connections of %d filter chains of listener %q drain", len(d.Chains), d.Listener.Name)
}
