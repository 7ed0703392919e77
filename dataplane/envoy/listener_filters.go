package envoy

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/graph"
)

// The listener filters that rules distinguish, by the part of their types that names them.
const (
	HTTPInspector = "http_inspector"
	OriginalDst   = "original_dst"
	ProxyProtocol = "proxy_protocol"
	TLSInspector  = "tls_inspector"
)

// ListenerFilter is a listener filter.
type ListenerFilter struct {
	At     graph.At
	Kind   string        // the part of its type that names the filter: tls_inspector; empty if it is not one of Envoy's, or discovered
	Config proto.Message // nil if it is not known
}

// ListenerFilters are the filters of a listener, in order.
type ListenerFilters []ListenerFilter

// ListenerFiltersOf returns the filters of a listener, with those that Envoy adds for deprecated settings at the end (ListenerImpl::ListenerImpl in
// source/common/listener_manager/listener_impl.cc).
func ListenerFiltersOf(at graph.At, l *listenerv3.Listener) (all ListenerFilters) {
	for i, m := range l.GetListenerFilters() {
		f := ListenerFilter{At: at.Item("listener_filters", i)}
		f.Config, _ = Content(f.At.Field("typed_config"), m.GetTypedConfig())
		if f.Config != nil {
			rest, _ := strings.CutPrefix(string(f.Config.ProtoReflect().Descriptor().FullName()), "envoy.extensions.filters.listener.")
			f.Kind, _, _ = strings.Cut(rest, ".v3.")
		}
		all = append(all, f)
	}
	if l.GetUseOriginalDst().GetValue() {
		all = append(all, ListenerFilter{At: at.Field("use_original_dst"), Kind: OriginalDst})
	}
	if chains := l.GetFilterChains(); len(chains) > 0 && chains[0].GetUseProxyProto().GetValue() { //nolint:staticcheck // deprecated, and in use
		all = append(all, ListenerFilter{At: at.Item("filter_chains", 0).Field("use_proxy_proto"), Kind: ProxyProtocol})
	}
	return all
}

// Index returns the index of the first filter of a kind, or -1.
func (fs ListenerFilters) Index(kind string) int {
	return slices.IndexFunc(fs, func(f ListenerFilter) bool { return f.Kind == kind })
}

// Lack reports whether a listener certainly does not have a filter of any of these kinds.
func (fs ListenerFilters) Lack(kinds ...string) bool {
	return !slices.ContainsFunc(fs, func(f ListenerFilter) bool { return !ownListenerFilters[f.Kind] || slices.Contains(kinds, f.Kind) })
}

// ownListenerFilters are filters of Envoy whose effect on a connection is known.
var ownListenerFilters = map[string]bool{
	HTTPInspector: true, OriginalDst: true, ProxyProtocol: true, TLSInspector: true, "local_ratelimit": true, "original_src": true,
}
