package bootstrap

import (
	"fmt"
	"net/url"
	"strings"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	ondemandv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/on_demand/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "resources-locator",
	Severity: lint.Error,
	Summary:  "a resources locator of CDS, LDS, SRDS or on-demand clusters is not a collection that Envoy can subscribe to",
	Links: []string{
		"XdsResourceIdentifier::decodeUrl (source/common/config/xds_resource.cc)",
		"SubscriptionFactoryImpl::collectionSubscriptionFromUrl (source/common/config/subscription_factory_impl.cc)",
	},
	Run: lint.EachNamed(checkLocator, "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds",
		"envoy.extensions.filters.http.on_demand.v3.OnDemandCds").And(lint.ForSnapshot(func(p *lint.Pass) {
		if b, r := p.Snapshot.Bootstrap(); b != nil && r.State == "" {
			checkCollections(p, r.At().Field("dynamic_resources"), b.GetDynamicResources())
		}
	})),
})

func checkCollections(p *lint.Pass, at lint.At, d *bootstrapv3.Bootstrap_DynamicResources) {
	clusters := collection{
		d.GetCdsResourcesLocator(), at.Field("cds_resources_locator"), d.GetCdsConfig(), at.Field("cds_config"),
		"envoy.config.cluster.v3.Cluster", false,
	}
	for _, w := range clusters.wrong() {
		w.reject(p)
	}
	listeners := collection{
		d.GetLdsResourcesLocator(), at.Field("lds_resources_locator"), d.GetLdsConfig(), at.Field("lds_config"),
		"envoy.config.listener.v3.Listener", false,
	}
	for _, w := range listeners.wrong() {
		late(p, w)
	}
}

func checkLocator(p *lint.Pass, at lint.At, m protoreflect.Message) {
	if at.Resource().State != "" || !envoy.OuterRead(p.Target.Extensions(), at.Place) {
		return
	}
	var c collection
	switch m := m.Interface().(type) {
	case *hcmv3.ScopedRds:
		c = collection{
			m.GetSrdsResourcesLocator(), at.Field("srds_resources_locator"), m.GetScopedRdsConfigSource(), at.Field("scoped_rds_config_source"),
			"envoy.config.route.v3.ScopedRouteConfiguration", !p.Target.Before("1.40"),
		}
	case *ondemandv3.OnDemandCds:
		c = collection{
			m.GetResourcesLocator(), at.Field("resources_locator"), m.GetSource(), at.Field("source"),
			"envoy.config.cluster.v3.Cluster", false,
		}
	}
	for _, w := range c.wrong() {
		w.reject(p)
	}
}

type collection struct {
	url      string
	at       lint.At
	source   *corev3.ConfigSource
	sourceAt lint.At
	kind     string
	plain    bool // GRPC is accepted: Envoy treats it as DELTA_GRPC
}

func (c collection) wrong() []wrong {
	if c.url == "" {
		return nil
	}
	u, w := readLocator(c.url)
	switch {
	case w.message != "":
	case u.scheme == "http:":
		w = wrong{message: "Envoy does not support collections over HTTP", help: "write an xdstp: URL", upstream: "Unsupported code path"}
	case u.scheme == "file:":
		return nil
	case u.kind != c.kind:
		w = wrong{
			message: fmt.Sprintf("the type in the URL is %s, not %s", u.kind, c.kind), help: "write xdstp://AUTHORITY/" + c.kind + "/NAME/*",
			upstream: fmt.Sprintf("xdstp:// type does not match %s in %s", c.kind, c.url),
		}
	default:
		return c.wrongSource()
	}
	w.at = c.at
	return []wrong{w}
}

// wrongSource follows the checks of the config source in collectionSubscriptionFromUrl.
func (c collection) wrongSource() []wrong {
	switch s := c.source.GetConfigSourceSpecifier().(type) {
	case *corev3.ConfigSource_Ads:
		return nil
	case *corev3.ConfigSource_ApiConfigSource:
		return c.wrongAPI(s.ApiConfigSource)
	}
	const upstream = "Missing or not supported config source specifier in envoy::config::core::v3::ConfigSource for a collection. Only ADS and gRPC in delta-xDS mode are supported."
	if c.source == nil {
		return []wrong{{c.at, "the collection does not have a config source", "add " + c.sourceAt.Path().Name() + ": {ads: {}}", upstream}}
	}
	return []wrong{{
		c.sourceAt, "an xdstp collection needs ADS or another gRPC server",
		"write ads: {}, or an api_config_source of type DELTA_GRPC", upstream,
	}}
}

func (c collection) wrongAPI(api *corev3.ApiConfigSource) []wrong {
	at := c.sourceAt.Field("api_config_source")
	switch t := api.GetApiType(); {
	case t == corev3.ApiConfigSource_AGGREGATED_GRPC, t == corev3.ApiConfigSource_AGGREGATED_DELTA_GRPC:
		return nil
	case t == corev3.ApiConfigSource_DELTA_GRPC, t == corev3.ApiConfigSource_GRPC && c.plain:
		return wrongServers(at, api)
	default:
		return []wrong{{
			at.Field("api_type"), fmt.Sprintf("%s cannot serve an xdstp collection", t),
			"write DELTA_GRPC, or replace the api_config_source by ads: {}",
			"Unknown xdstp:// transport API type in " + t.String(),
		}}
	}
}

// wrongServers follows checkApiConfigSourceNames for a source that uses gRPC.
func wrongServers(at lint.At, api *corev3.ApiConfigSource) []wrong {
	const (
		gRPC = "(AGGREGATED_)(DELTA_)GRPC must "
		help = "write grpc_services: [{envoy_grpc: {cluster_name: …}}]"
	)
	clusters, services := len(api.GetClusterNames()), len(api.GetGrpcServices())
	switch {
	case clusters+services == 0:
		return []wrong{{
			at.Key(), "the api_config_source does not name a server", help,
			"API configs must have either a gRPC service or a cluster name defined",
		}}
	case clusters > 0:
		return []wrong{{
			at.Field("cluster_names"), fmt.Sprintf("%s needs grpc_services, not cluster_names", api.GetApiType()), help,
			gRPC + "not have a cluster name specified",
		}}
	case services > 1:
		return []wrong{{
			at.Field("grpc_services"), fmt.Sprintf("the api_config_source has %d grpc_services, but Envoy accepts only one", services),
			"keep one of them",
			gRPC + "have no more than 1 gRPC services specified",
		}}
	}
	return nil
}

// locator is the relevant part of a resource's URL.
type locator struct{ scheme, kind string }

// readLocator follows XdsResourceIdentifier::decodeUrl.
func readLocator(text string) (locator, wrong) {
	rest := text
	if at := strings.Index(text, "://"); at >= 0 {
		rest = text[at+3:]
	}
	path := "/"
	if at := strings.Index(rest, "/"); at >= 0 {
		path = rest[at:]
	}
	path, fragment, hasFragment := strings.Cut(path, "#")
	if hasFragment {
		if w := wrongFragment(fragment); w.message != "" {
			return locator{}, w
		}
	}
	for _, scheme := range []string{"xdstp:", "http:", "file:"} {
		if !strings.HasPrefix(text, scheme) {
			continue
		}
		whole, _, _ := strings.Cut(path, "?")
		kind, _, _ := strings.Cut(whole[1:], "/")
		if kind == "" && scheme != "file:" {
			return locator{}, wrong{
				message: "the URL does not include a resource type", help: "write xdstp://AUTHORITY/TYPE/NAME/*",
				upstream: "Resource type missing from " + whole,
			}
		}
		return locator{scheme, kind}, wrong{}
	}
	return locator{}, wrong{
		message: fmt.Sprintf("%q is not the URL of a collection", text), help: "write xdstp://AUTHORITY/TYPE/NAME/*",
		upstream: text + " does not have a xdstp:, http: or file: scheme",
	}
}

func wrongFragment(fragment string) wrong {
	for part := range strings.SplitSeq(fragment, ",") {
		alt, isAlt := strings.CutPrefix(part, "alt=")
		switch {
		case isAlt:
			if plain, err := url.PathUnescape(alt); err == nil {
				alt = plain
			}
			if _, w := readLocator(alt); w.message != "" {
				return w
			}
		case !strings.HasPrefix(part, "entry="):
			return wrong{
				message: fmt.Sprintf("%q after the # is neither entry=NAME nor alt=URL", part), help: "remove it",
				upstream: "Unknown fragment component " + part,
			}
		}
	}
	return wrong{}
}
