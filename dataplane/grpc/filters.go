package grpc

import (
	"fmt"
	"maps"
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	faultv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/fault/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/graph"
)

const (
	routerType       = "envoy.extensions.filters.http.router.v3.Router"
	rbacType         = "envoy.extensions.filters.http.rbac.v3.RBAC"
	rbacPerRouteType = "envoy.extensions.filters.http.rbac.v3.RBACPerRoute"
)

// Variables of features that are off by default.
const (
	extProcOnClient  = "GRPC_EXPERIMENTAL_XDS_EXT_PROC_ON_CLIENT"
	extAuthzOnClient = "GRPC_EXPERIMENTAL_XDS_EXT_AUTHZ_ON_CLIENT"
	systemRootCerts  = "GRPC_EXPERIMENTAL_XDS_SYSTEM_ROOT_CERTS"
	httpConnect      = "GRPC_EXPERIMENTAL_XDS_HTTP_CONNECT"
	sni              = "GRPC_EXPERIMENTAL_XDS_SNI"
	callCreds        = "GRPC_EXPERIMENTAL_XDS_BOOTSTRAP_CALL_CREDS"
	spiffe           = "GRPC_EXPERIMENTAL_XDS_MTLS_SPIFFE"
	dualstack        = "GRPC_EXPERIMENTAL_XDS_DUALSTACK_ENDPOINTS"
	gcpAuthn         = "GRPC_EXPERIMENTAL_XDS_GCP_AUTHENTICATION_FILTER"
	authorityRewrite = "GRPC_EXPERIMENTAL_XDS_AUTHORITY_REWRITE"
	hashKeyCompat    = "GRPC_XDS_ENDPOINT_HASH_KEY_BACKWARD_COMPAT"
)

// supports reports whether the client has an HTTP filter for a type, on its side or on any.
func (c Client) supports(name string, server bool) (here, anywhere bool) {
	client, serving := c.has(clientFilters, name), c.has(serverFilters, name)
	return server && serving || !server && client, client || serving
}

// HTTPFilters checks the filters of a connection manager against those that the client has (validateHTTPFilterConfig, processHTTPFilters, gRFC A39).
func (c Client) HTTPFilters(m Manager) (all []Fault) {
	seen := map[string]bool{}
	for i, f := range m.Config.GetHttpFilters() {
		at := m.At.Item("http_filters", i)
		switch {
		case f.GetName() == "" && c.is(Go, Core):
			all = append(all, rejected(at, "an HTTP filter has no name", "filter missing name field", "give it a name")...)
		case seen[f.GetName()] && f.GetName() != "":
			all = append(all, rejected(at.Field("name"), fmt.Sprintf("another HTTP filter before this one is named %q", f.GetName()), "duplicate filter name", "give each filter another name")...)
		}
		seen[f.GetName()] = true
		all = append(all, c.httpFilter(at, f, m.Server)...)
	}
	return all
}

func (c Client) httpFilter(at graph.At, f *hcmv3.HttpFilter, server bool) []Fault {
	at = at.Field("typed_config")
	name, isStruct := wrapped(at, f.GetTypedConfig())
	here, anywhere := c.supports(name, server)
	side := "client"
	if server {
		side = "server"
	}
	switch {
	case anywhere && isStruct:
		return rejected(at, fmt.Sprintf("the configuration of %s is a TypedStruct", name), "error parsing config for filter", "write the configuration with its own type")
	case anywhere && name == rbacPerRouteType:
		return rejected(at, "the configuration of RBAC is an RBACPerRoute and not an RBAC", "error parsing config for filter", `write "@type": type.googleapis.com/`+rbacType)
	case here:
		return nil
	case f.GetIsOptional() && f.GetTypedConfig() != nil || f.GetIsOptional() && c.is(Go):
		return c.skipped(at, name, side, anywhere)
	case name == "":
		return rejected(at, "an HTTP filter has no typed_config", "no filter implementation found", "write its configuration as typed_config: gRPC does not discover the configuration of filters")
	case anywhere:
		return rejected(at, fmt.Sprintf("gRPC does not support the HTTP filter %s on the %s side", name, side), fmt.Sprintf("not supported %s-side", side), "remove the filter, or set is_optional: true to have it skipped")
	}
	return rejected(at, fmt.Sprintf("gRPC does not support the HTTP filter %s", name), "no filter implementation found", "remove the filter, or set is_optional: true to have it skipped")
}

// skipped is the loss of an optional filter. A type of no data plane that is optional is there on purpose.
func (c Client) skipped(at graph.At, name, side string, anywhere bool) []Fault {
	if name != rbacType || !anywhere {
		return nil
	}
	return accepted(at, Ignores, fmt.Sprintf("the filter %s is optional, and does nothing on the %s side", name, side), "skips the filter", "configure RBAC on the servers")
}

// kept returns the filters that remain when those that the client skips are left out, by their indices.
func (c Client) kept(m Manager) (all []int) {
	for i, f := range m.Config.GetHttpFilters() {
		name, _ := wrapped(m.At.Item("http_filters", i).Field("typed_config"), f.GetTypedConfig())
		if here, _ := c.supports(name, m.Server); here || !f.GetIsOptional() {
			all = append(all, i)
		}
	}
	return all
}

// FilterOrder checks that the router is the last filter, and only that (processHTTPFilters, gRFC A39).
func (c Client) FilterOrder(m Manager) (all []Fault) {
	at := m.At.Field("http_filters")
	kept := c.kept(m)
	if c.is(Java) { // it looks for the last filter before it leaves out optional ones
		kept = kept[:0]
		for i := range m.Config.GetHttpFilters() {
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 {
		return rejected(at, "there is no HTTP filter", "http filters list is empty", "add the router")
	}
	for n, i := range kept {
		f := m.Config.GetHttpFilters()[i]
		name, _ := wrapped(m.At.Item("http_filters", i).Field("typed_config"), f.GetTypedConfig())
		here, _ := c.supports(name, m.Server)
		switch last := n == len(kept)-1; {
		case !here && !f.GetIsOptional(): // HTTPFilters reports it
		case last && name != routerType:
			all = append(all, rejected(m.At.Item("http_filters", i), "the last HTTP filter is not the router", "is not a terminal filter", "add the router as the last filter")...)
		case !last && name == routerType:
			all = append(all, rejected(m.At.Item("http_filters", i), "the router is not the last HTTP filter", "is a terminal filter but it is not last in the filter chain", "move the router to the end, and have only one")...)
		}
	}
	return all
}

// eachConfig calls f for the configuration of each HTTP filter that a client reads in a resource: in connection managers, and in route tables.
func (c Client) eachConfig(at graph.At, resource proto.Message, f func(at graph.At, config proto.Message) []Fault) (all []Fault) {
	if l, ok := resource.(*listenerv3.Listener); ok {
		for _, m := range c.Managers(at, l) {
			for i, filter := range m.Config.GetHttpFilters() {
				at := m.At.Item("http_filters", i).Field("typed_config")
				all = append(all, f(at, at.Content(filter.GetTypedConfig()))...)
			}
		}
	}
	for _, t := range c.Tables(at, resource) {
		for _, o := range c.overridesIn(t) {
			at, any, _ := o.configured()
			all = append(all, f(at, at.Content(any))...)
		}
	}
	return all
}

// FaultInjection checks the configurations of the fault filter (fault.parseConfig, gRFC A33), and what of them is ignored.
func (c Client) FaultInjection(at graph.At, resource proto.Message) []Fault {
	return c.eachConfig(at, resource, func(at graph.At, config proto.Message) []Fault {
		if m, ok := config.(*faultv3.HTTPFault); ok {
			return c.fault(at, m)
		}
		return nil
	})
}

func (c Client) fault(at graph.At, f *faultv3.HTTPFault) (all []Fault) {
	abort := f.GetAbort()
	if abort != nil && abort.GetErrorType() == nil && c.is(Java) {
		all = append(all, rejected(at.Field("abort"), "abort has no kind of error", "", "write http_status, grpc_status or header_abort")...)
	}
	if code, ok := abort.GetErrorType().(*faultv3.FaultAbort_GrpcStatus); ok && code.GrpcStatus > 16 && c.is(Core) {
		all = append(all, rejected(at.Field("abort", "grpc_status"), fmt.Sprintf("%d is not a status of gRPC", code.GrpcStatus), "", "write a number from 0 to 16")...)
	}
	if f.GetResponseRateLimit() != nil {
		all = append(all, accepted(at.Field("response_rate_limit"), Ignores, "gRPC does not limit the rate of responses", "ignores response_rate_limit", "remove it")...)
	}
	return all
}

// override is a configuration of a filter for a virtual host, a route or a cluster.
type override struct {
	at  graph.At
	any *anypb.Any
}

// overrides returns the entries of a typed_per_filter_config, sorted by name.
func overrides(at graph.At, byName map[string]*anypb.Any) []override {
	return entries(at, "typed_per_filter_config", byName)
}

// entries returns the values of a map field, sorted by key.
func entries(at graph.At, field string, byName map[string]*anypb.Any) (all []override) {
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, override{at.Entry(field, name), byName[name]})
	}
	return all
}

// configured returns the configuration of a filter that an override holds, through a FilterConfig.
func (o override) configured() (at graph.At, any *anypb.Any, optional bool) {
	if wrapper, ok := content[*routev3.FilterConfig](o.at, o.any); ok {
		return o.at.Field("config"), wrapper.GetConfig(), wrapper.GetIsOptional()
	}
	return o.at, o.any, false
}

// Overrides checks the configurations of filters in a route table (processHTTPFilterOverrides, gRFC A39).
func (c Client) Overrides(t Table) (all []Fault) {
	for _, o := range c.overridesIn(t) {
		all = append(all, c.override(o)...)
	}
	return all
}

func (c Client) override(o override) []Fault {
	at, any, optional := o.configured()
	if wrapper, ok := content[*routev3.FilterConfig](o.at, o.any); ok && wrapper.GetDisabled() && c.disables() {
		return nil
	}
	name, isStruct := wrapped(at, any)
	here, anywhere := c.supports(name, false)
	wrong := func(message, help string) []Fault {
		return rejected(at, message, "error parsing config for filter", help)
	}
	switch {
	case !here && !anywhere && optional:
		return nil
	case name == "":
		return rejected(o.at, "the configuration of a filter has no content: gRPC does not know how to disable a filter", "no filter implementation found", "remove the entry")
	case !here && !anywhere:
		return rejected(at, fmt.Sprintf("gRPC does not support the HTTP filter of %s", name), "no filter implementation found", "remove the entry, or put it into a FilterConfig with is_optional: true")
	case isStruct:
		return wrong(fmt.Sprintf("the configuration of %s is a TypedStruct", name), "write the configuration with its own type")
	case name == routerType:
		return wrong("the router does not have configurations for routes", "remove the entry")
	case name == rbacType:
		return wrong("the configuration of RBAC for a route is an RBAC and not an RBACPerRoute", `write "@type": type.googleapis.com/`+rbacPerRouteType)
	}
	return nil
}
