package grpc

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
)

const managerType = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"

// Manager is an HTTP connection manager that a client or server reads.
type Manager struct {
	At     graph.At
	Config *hcmv3.HttpConnectionManager
	Server bool
	Unused bool // a filter chain has another one before it: only its HTTP filters are validated
}

// Managers returns the HTTP connection managers that a client reads in a listener: in its api_listener, or else in the filter chains that
// a server keeps (processListener).
func (c Client) Managers(at graph.At, l *listenerv3.Listener) []Manager {
	if l.GetApiListener() != nil {
		at = at.Field("api_listener", "api_listener")
		if m, ok := content[*hcmv3.HttpConnectionManager](at, l.GetApiListener().GetApiListener()); ok {
			return []Manager{{At: at, Config: m}}
		}
		return nil
	}
	var all []Manager
	for _, chain := range c.chains(at, l) {
		all = append(all, managersIn(chain)...)
	}
	return all
}

func managersIn(chain filterChain) (all []Manager) {
	for i, filter := range chain.config.GetFilters() {
		at := chain.at.Item("filters", i).Field("typed_config")
		if m, ok := content[*hcmv3.HttpConnectionManager](at, filter.GetTypedConfig()); ok {
			all = append(all, Manager{At: at, Config: m, Server: true, Unused: len(all) > 0})
		}
	}
	return all
}

// Table is a route configuration that a client or server reads.
type Table struct {
	At     graph.At
	Config *routev3.RouteConfiguration
	Reader Reader
}

// Reader is what is known about the reader of a table.
type Reader uint8

// The readers. A table from RDS may be for either.
const (
	Either Reader = iota
	OfClient
	OfServer
)

// Tables returns the route configurations that a client reads in a resource: those in its connection managers, or the resource itself.
func (c Client) Tables(at graph.At, resource proto.Message) (all []Table) {
	switch m := resource.(type) {
	case *routev3.RouteConfiguration:
		all = append(all, Table{at, m, Either})
	case *listenerv3.Listener:
		for _, manager := range c.Managers(at, m) {
			reader := OfClient
			if manager.Server {
				reader = OfServer
			}
			if table := manager.Config.GetRouteConfig(); table != nil && !manager.Unused {
				all = append(all, Table{manager.At.Field("route_config"), table, reader})
			}
		}
	}
	return all
}

// APIListener checks the type of an api_listener (processClientSideListener, gRFC A27).
func (c Client) APIListener(at graph.At, l *listenerv3.Listener) []Fault {
	if l.GetApiListener() == nil {
		return nil
	}
	any := l.GetApiListener().GetApiListener()
	if typeName(any) == managerType {
		return nil
	}
	message := "the api_listener is empty"
	if any.GetTypeUrl() != "" {
		message = fmt.Sprintf("the api_listener is a %s and not an HTTP connection manager", typeName(any))
	}
	return rejected(at.Field("api_listener", "api_listener"), message, "unexpected http connection manager resource type", `write "@type": type.googleapis.com/`+managerType)
}

// OriginalAddress checks the fields with which Envoy finds the address of a client behind proxies (processClientSideListener, gRFC A41).
func (c Client) OriginalAddress(m Manager) (all []Fault) {
	if m.Unused && c.is(Go) {
		return nil
	}
	if m.Config.GetXffNumTrustedHops() != 0 {
		all = append(all, rejected(m.At.Field("xff_num_trusted_hops"), "xff_num_trusted_hops is set", "xff_num_trusted_hops must be unset or zero", "remove it")...)
	}
	if len(m.Config.GetOriginalIpDetectionExtensions()) > 0 {
		all = append(all, rejected(m.At.Field("original_ip_detection_extensions"), "original_ip_detection_extensions is set", "original_ip_detection_extensions must be empty", "remove it")...)
	}
	return all
}

// RouteSource checks where the routes of a connection manager come from (processClientSideListener, processNetworkFilters, gRFCs A27 and A36).
func (c Client) RouteSource(m Manager) []Fault {
	if m.Unused && c.is(Go) {
		return nil
	}
	switch s := m.Config.GetRouteSpecifier().(type) {
	case *hcmv3.HttpConnectionManager_RouteConfig:
		return nil
	case *hcmv3.HttpConnectionManager_Rds:
		source := s.Rds.GetConfigSource()
		switch ads, self := source.GetAds() != nil, source.GetSelf() != nil; {
		case !ads && !self:
			return rejected(m.At.Field("rds", "config_source"), "the route configuration does not come over ADS", "configSource is not ADS or Self", "write ads: {}")
		case !ads && m.Server && c.is(Go):
			return rejected(m.At.Field("rds", "config_source"), "the route configuration of a server comes over self instead of ads", "ConfigSource is not ADS", "write ads: {}")
		case s.Rds.GetRouteConfigName() == "" && c.is(Go):
			return rejected(m.At.Field("rds"), "route_config_name is empty", "empty route_config_name", "write the name of a route configuration")
		}
		return nil
	case nil:
		return rejected(m.At, "the connection manager has no routes", "no RouteSpecifier", "write rds or route_config")
	}
	return rejected(m.At.Field("scoped_routes"), "gRPC does not support scoped routes", "unsupported type for RouteSpecifier", "write rds or route_config")
}
