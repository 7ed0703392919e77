package version

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	corsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/cors/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

const perFilter = "typed_per_filter_config"

// moveCORS moves the policy of a virtual host or a route into its typed_per_filter_config, for the filter of the connection manager around
// it. The filter reads the old policies of the route and the virtual host only if no new one exists
// (source/extensions/filters/http/cors/cors_filter.cc, initializeCorsPolicies), so all that applies to a request must move at once.
func moveCORS(at *graph.Place, where lint.At) []lint.Fix {
	filter := corsFilter(at)
	table := at.Enclosing("envoy.config.route.v3.RouteConfiguration")
	host := at.Enclosing("envoy.config.route.v3.VirtualHost")
	if filter == "" || table == nil || host == nil {
		return nil
	}
	policies := 0
	eachCORS(host.Message.Interface().(*routev3.VirtualHost), func() { policies++ })
	if policies != 1 || mentions(table.Message.Interface().(*routev3.RouteConfiguration), filter) {
		return nil
	}
	old, _ := valueOf(at.Message, "cors").(lint.Fields)
	moved := lint.Fields{{Name: filter, Value: typed("envoy.extensions.filters.http.cors.v3.CorsPolicy", old...)}}
	if at == host {
		return lint.Exchange(where, perFilter, moved).Safe("write " + perFilter)
	}
	return lint.Together(lint.Remove(where), lint.Insert(at.Parent.At(), perFilter, moved)).Safe("write " + perFilter)
}

// corsFilter returns the name of the only CORS filter of the connection manager around a place, empty if there is none or if that is not
// certain.
func corsFilter(at *graph.Place) (name string) {
	manager := at.Enclosing("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager")
	if manager == nil {
		return ""
	}
	for _, f := range manager.Message.Interface().(*hcmv3.HttpConnectionManager).GetHttpFilters() {
		content, known := at.Resource.Contents[f.GetTypedConfig()]
		_, cors := content.(*corsv3.Cors)
		switch {
		case !known || cors && name != "":
			return ""
		case cors:
			name = f.GetName()
		}
	}
	return name
}

// eachCORS calls f for each policy of a virtual host and its routes.
func eachCORS(host *routev3.VirtualHost, f func()) {
	if host.GetCors() != nil {
		f()
	}
	for _, route := range host.GetRoutes() {
		if route.GetRoute().GetCors() != nil {
			f()
		}
	}
}

// mentions reports whether a route table has a per-filter configuration under a name.
func mentions(table *routev3.RouteConfiguration, filter string) bool {
	if table.GetTypedPerFilterConfig()[filter] != nil {
		return true
	}
	for _, host := range table.GetVirtualHosts() {
		if host.GetTypedPerFilterConfig()[filter] != nil {
			return true
		}
		for _, route := range host.GetRoutes() {
			if route.GetTypedPerFilterConfig()[filter] != nil {
				return true
			}
			for _, c := range route.GetRoute().GetWeightedClusters().GetClusters() {
				if c.GetTypedPerFilterConfig()[filter] != nil {
					return true
				}
			}
		}
	}
	return false
}
