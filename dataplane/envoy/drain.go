package envoy

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/graph"
)

// Drain lists the connections of a listener that an update closes gracefully.
type Drain struct {
	Listener *graph.Resource // before the update
	All      bool            // all connections: the listener is removed or replaced
	Chains   []DrainedChain  // unless All: the chains that are changed or removed
	Why      string          // if All: the changed field for which Envoy replaces the listener; empty if the listener is removed
}

// DrainedChain is a filter chain of the listener before the update.
type DrainedChain struct {
	Path    *graph.Path
	Message *listenerv3.FilterChain
}

// Name returns the name of the chain, or its path if it does not have one.
func (c DrainedChain) Name() string {
	if c.Message.GetName() != "" {
		return c.Message.GetName()
	}
	return c.Path.String()
}

// None reports whether no connection drains.
func (d Drain) None() bool { return !d.All && len(d.Chains) == 0 }

// Covers reports whether the connections that a path of the old listener serves drain.
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

// DrainOf returns the connections that drain when a listener changes (ListenerImpl::supportUpdateFilterChain, diffFilterChain). Nothing
// drains if the listener is added, or if Envoy rejects the update.
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
	if d.Why = replacedBy(change, before, after); d.Why != "" {
		d.All = true
		return d
	}
	d.Chains = replacedChains(change, before, after)
	return d
}

// ReusePortFlips reports whether an update changes enable_reuse_port, which Envoy rejects
// (ListenerManagerImpl::setupSocketFactoryForListener).
func ReusePortFlips(change *graph.Change) bool {
	if !change.Changed() {
		return false
	}
	before, _ := change.Old.Message.(*listenerv3.Listener)
	after, _ := change.New.Message.(*listenerv3.Listener)
	return ReusesPort(before) != ReusesPort(after)
}

// ReusesPort returns the value of enable_reuse_port, which is true by default (ListenerImpl::getReusePortOrDefault).
func ReusesPort(l *listenerv3.Listener) bool {
	return l.GetEnableReusePort() == nil || l.GetEnableReusePort().GetValue()
}

// replacedBy returns the field for which Envoy replaces the whole listener, or "" if it updates the filter chains in place.
func replacedBy(change *graph.Change, before, after *listenerv3.Listener) string {
	if before.GetFcdsConfig() != nil {
		return "fcds_config"
	}
	old, now := side{change.Old, before.ProtoReflect()}, side{change.New, after.ProtoReflect()}
	fields := before.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		switch fd := fields.Get(i); fd.Name() {
		case "filter_chains", "default_filter_chain", "filter_chain_matcher":
		default:
			if !ofListeners.field(fd, old, now) {
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

// usesProxyProto reports whether use_proxy_proto is set. It is a field of filter chains, but Envoy makes a listener filter of it.
func usesProxyProto(l *listenerv3.Listener) bool {
	chain := l.GetDefaultFilterChain()
	if chains := l.GetFilterChains(); len(chains) > 0 {
		chain = chains[0]
	}
	return chain.GetUseProxyProto().GetValue() //nolint:staticcheck // Envoy reads it
}

// replacedChains returns the chains of the old listener that the new one does not have unchanged.
func replacedChains(change *graph.Change, before, after *listenerv3.Listener) []DrainedChain {
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

// Summary describes in a few words what drains.
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
