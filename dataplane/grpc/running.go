package grpc

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/graph"
)

// Filter is an HTTP filter that sees an RPC, with the configuration that is in effect.
type Filter struct {
	Name   string
	Config proto.Message
}

// Level is a place with configurations of filters: a virtual host, a route or a member of weighted_clusters.
type Level struct {
	At        graph.At
	Overrides map[string]*anypb.Any
}

// Filters returns the HTTP filters that see an RPC. The levels begin with the most specific one (xdsResolver.newInterceptor, gRFC A39).
func (c Client) Filters(m Manager, levels ...Level) (all []Filter) {
	for _, i := range c.kept(m) {
		f := m.Config.GetHttpFilters()[i]
		o, disabled := override{m.At.Item("http_filters", i).Field("typed_config"), f.GetTypedConfig()}, f.GetDisabled()
		for _, l := range levels {
			if any := l.Overrides[f.GetName()]; any != nil {
				own := override{l.At.Entry("typed_per_filter_config", f.GetName()), any}
				wrapper, ok := content[*routev3.FilterConfig](own.at, own.any)
				if off := ok && wrapper.GetDisabled() && c.disables(); !off && c.skips(own) {
					continue
				}
				o, disabled = own, ok && wrapper.GetDisabled()
				break
			}
		}
		if disabled && c.disables() {
			continue
		}
		at, any, _ := o.configured()
		all = append(all, Filter{f.GetName(), at.Content(any)})
	}
	return all
}

// skips reports whether a client leaves an override out: it is optional, and of a filter that the client does not have.
func (c Client) skips(o override) bool {
	at, any, optional := o.configured()
	name, _ := wrapped(at, any)
	_, anywhere := c.supports(name, false)
	return optional && !anywhere
}
