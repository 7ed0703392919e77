package reference_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/reference"
)

// set adds a resource in JSON.
func (f *fleet) set(name string, m proto.Message, text string) {
	f.t.Helper()
	if err := protojson.Unmarshal([]byte(text), m); err != nil {
		f.t.Fatal(err)
	}
	f.store.Set(name, m)
}

// listen adds a listener whose routes come as some fields of the connection manager say.
func (f *fleet) listen(routes string) {
	f.set("web", &listenerv3.Listener{}, fmt.Sprintf(`{"name": "web", "address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}}, "filter_chains": [{"filters": [{"name": "http", "typed_config": {
		"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "web", %s,
		"http_filters": [
			{"name": "on_demand", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.on_demand.v3.OnDemand",
				"odcds": {"source": {"ads": {}, "resource_api_version": "V3"}, "timeout": "60s"}}},
			{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}]}]}`, routes))
}

const (
	ads      = `{"ads": {}, "resource_api_version": "V3"}`
	overRDS  = `"rds": {"route_config_name": "web", "config_source": ` + ads + `}`
	overSRDS = `"scoped_routes": {"name": "web", "scope_key_builder": {"fragments": [{"header_value_extractor": {"name": "x-scope", "index": 0}}]},
		"rds_config_source": ` + ads + `, "scoped_rds": {"scoped_rds_config_source": ` + ads + `}}`
)

// ask sends a request for a host with a header. It returns the status of the answer; 0: there is none in time.
func (f *fleet) ask(host, header, value string, patience time.Duration) int {
	f.t.Helper()
	addr, err := f.envoy.Addr(f.ctx, "web")
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(f.ctx, patience)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	q.Host = host
	q.Header.Set(header, value)
	p, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		return 0
	}
	_ = p.Body.Close()
	return p.StatusCode
}

// onDemand are flaws because of which a request to a real Envoy has to wait.
var onDemand = []struct {
	clause string
	flaw   func(reference.Session) reference.Session
	play   func(f *fleet)
	host   string
	to     string
	right  int
}{
	{"virtual-host-removed", removing, lazyHosts, "void.example.com", "", 404},
	{"subscription-unanswered", unaliased, lazyHosts, "shop.example.com", "", 200},
	{"virtual-host-misnamed", misnaming, lazyHosts, "shop.example.com", "", 200},
	{"subscription-unanswered", ignoring(reference.Clusters, "void"), lazyClusters, "web", "void", 503},
}

// lazyHosts are virtual hosts that come when a request needs them.
func lazyHosts(f *fleet) {
	f.set("web", &routev3.RouteConfiguration{}, `{"name": "web", "vhds": {"config_source": `+ads+`}}`)
	f.set("web/shop.example.com", &routev3.VirtualHost{}, `{"name": "web/shop.example.com", "domains": ["shop.example.com"], "routes": [{"match": {"prefix": "/"}, "direct_response": {"status": 200}}]}`)
	f.listen(overRDS)
}

// lazyClusters are clusters that come when a request needs them.
func lazyClusters(f *fleet) {
	f.set("web", &routev3.RouteConfiguration{}, `{"name": "web", "virtual_hosts": [{"name": "web", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster_header": "x-to"}}]}]}`)
	f.listen(overRDS)
}

// ofHosts changes responses with virtual hosts.
func ofHosts(f func(d *discoveryv3.DeltaDiscoveryResponse)) func(reference.Session) reference.Session {
	return edit(func(p proto.Message) []proto.Message {
		if d := p.(*discoveryv3.DeltaDiscoveryResponse); d.GetTypeUrl() == reference.VirtualHosts {
			f(d)
		}
		return one(p)
	})
}

// removing removes virtual hosts that do not exist.
var removing = ofHosts(func(d *discoveryv3.DeltaDiscoveryResponse) {
	for _, r := range d.Resources {
		if r.GetResource() == nil {
			d.RemovedResources = append(d.RemovedResources, r.GetName())
		}
	}
	d.Resources = slices.DeleteFunc(d.Resources, func(r *discoveryv3.Resource) bool { return r.GetResource() == nil })
})

// unaliased names a virtual host otherwise than the client has, and forgets the alias.
var unaliased = ofHosts(func(d *discoveryv3.DeltaDiscoveryResponse) {
	for _, r := range d.Resources {
		if r.GetResource() != nil {
			r.Name, r.Aliases = "web/first", nil
		}
	}
})

// misnaming gives a virtual host a name that is not below its route configuration.
var misnaming = ofHosts(func(d *discoveryv3.DeltaDiscoveryResponse) {
	for _, r := range d.Resources {
		if r.GetResource() != nil {
			r.Name, r.Aliases = "first", []string{r.Name}
		}
	}
})

// ignoring does not hear of a name of a type.
func ignoring(typeURL, name string) func(reference.Session) reference.Session {
	return func(s reference.Session) reference.Session {
		return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
			d := clone(q.(*discoveryv3.DeltaDiscoveryRequest))
			if d.GetTypeUrl() == typeURL {
				d.ResourceNamesSubscribe = slices.DeleteFunc(d.ResourceNamesSubscribe, func(other string) bool { return other == name })
			}
			return next.Request(d)
		}}
	}
}

// TestOnDemand: a request to a real Envoy is answered at once, and has to wait because of the breach of a clause.
func TestOnDemand(t *testing.T) {
	envoytest.Need(t)
	for _, h := range onDemand {
		t.Run(h.clause, func(t *testing.T) {
			t.Parallel()
			right := newFleet(t, envoytest.Newest, true, nil)
			h.play(right)
			if got := right.ask(h.host, "x-to", h.to, 5*time.Minute); got != h.right {
				t.Errorf("without the flaw, the status is %d, want %d", got, h.right)
			}
			wrong := newFleet(t, envoytest.Newest, true, h.flaw)
			h.play(wrong)
			if got := wrong.ask(h.host, "x-to", h.to, 2*time.Second); got != 0 {
				t.Errorf("with the flaw, the status is %d, and no answer is expected", got)
			}
		})
	}
}

// scoped adds a listener with scoped routes.
func scoped(f *fleet) {
	f.set("web", &routev3.RouteConfiguration{}, `{"name": "web"}`)
	f.set("shop", &routev3.ScopedRouteConfiguration{}, `{"name": "shop", "route_configuration_name": "web", "key": {"fragments": [{"string_key": "shop"}]}}`)
	f.listen(overSRDS)
	f.shows("/config_dump?resource=dynamic_listeners", `"web"`)
	f.passes("shop")
}

// collections are flaws in how a collection of clusters is served, and what a page then lacks.
var collections = []struct {
	clause      string
	flaw        func(reference.Session) reference.Session
	page, right string
}{
	{"resource-unrequested", renaming(tenant+"a", tenant+"deep/a"), "/clusters", tenant + "a::"},
	{"subscription-unanswered", unheard(reference.Clusters, []string{tenant + "*"}), "/stats?filter=cds.init_fetch_timeout", "init_fetch_timeout: 0"},
}

// renaming gives a resource of Delta another name.
func renaming(from, to string) func(reference.Session) reference.Session {
	return edit(func(p proto.Message) []proto.Message {
		for _, r := range p.(*discoveryv3.DeltaDiscoveryResponse).GetResources() {
			if r.GetName() == from {
				r.Name = to
			}
		}
		return one(p)
	})
}

// TestCollections: the same for a real Envoy that asks for a collection of clusters.
func TestCollections(t *testing.T) {
	if testing.Short() {
		t.Skip("an Envoy waits for 15 seconds")
	}
	envoytest.Need(t)
	collection := func(bootstrap string) string {
		return strings.Replace(bootstrap, "cds_config:", "cds_resources_locator: "+tenant+"*\n  cds_config:", 1)
	}
	for _, h := range collections {
		t.Run(h.clause, func(t *testing.T) {
			t.Parallel()
			for _, flawed := range []bool{false, true} {
				flaw := h.flaw
				if !flawed {
					flaw = nil
				}
				f := newFleetOn(t, envoytest.Newest, collection, true, flaw)
				f.cluster(tenant+"a", 1)
				f.endpoints(tenant+"a", 1)
				f.listen(`"route_config": {"name": "web"}`)
				f.shows("/listeners", "web::") // what was sent before has arrived
				if !flawed {
					f.shows(h.page, h.right)
				} else if f.has(h.page, h.right) {
					t.Errorf("with the flaw, %s shows %q too", h.page, h.right)
				}
			}
		})
	}
}
