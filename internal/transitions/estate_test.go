package transitions

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// estate is a configuration that random changes are made to. What no listener leads to is not part of it.
type estate struct {
	Doors    []*entrance
	Tables   map[string]*table
	Services map[string]*service // by the name of their cluster
	Hosts    map[string][]int    // endpoints of load assignments
	Made     int                 // names
}

type entrance struct {
	Name, Secret string
	Port, Buffer int
	Routes       string // rds, inline, scoped, tcp
	To           string // table, or the cluster of tcp
	Scopes       map[string]*scope
	Filters      []*filter
}

type scope struct{ Key, Table string }

type filter struct{ Kind, Name, Cluster string }

type table struct {
	Paths map[string]*route
}

type route struct {
	Clusters []string
	Mirror   string
}

type service struct {
	Kind, Hosts, CA string
	Checked         bool
	Timeout         int
	Members         []string // of an aggregate
}

func (e *estate) clone() *estate {
	raw, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	other := &estate{}
	if err := json.Unmarshal(raw, other); err != nil {
		panic(err)
	}
	return other
}

func (e *estate) fresh(what string) string {
	e.Made++
	return fmt.Sprint(what, "-", e.Made)
}

// founded returns a first configuration.
func founded(r *rand.Rand) *estate {
	e := &estate{Tables: map[string]*table{}, Services: map[string]*service{}, Hosts: map[string][]int{}}
	for i := range 1 + r.IntN(3) {
		d := &entrance{Name: e.fresh("listener"), Port: 8000 + i, Buffer: 32768, Routes: one(r, "rds", "rds", "rds", "inline", "scoped")}
		switch {
		case i > 0 && r.IntN(6) == 0:
			d.Routes = "tcp"
		case d.Routes == "scoped" && i > 0:
			d.Routes = "rds" // all listeners share the scopes of a server
		}
		e.Doors = append(e.Doors, d)
		switch d.Routes {
		case "tcp":
			d.To = e.service(r)
		case "scoped":
			d.Scopes = map[string]*scope{}
			for _, key := range []string{"acme", "globex", "initech"} {
				d.Scopes[e.fresh("scope")] = &scope{key, e.someTable(r)}
			}
		default:
			d.To = e.someTable(r)
		}
		if d.Routes != "tcp" && r.IntN(4) == 0 {
			d.Secret = e.fresh("secret")
		}
		for d.Routes != "tcp" && r.IntN(3) == 0 {
			d.Filters = append(d.Filters, e.filter(r))
		}
	}
	return e
}

func (e *estate) someTable(r *rand.Rand) string {
	if len(e.Tables) > 0 && r.IntN(3) == 0 {
		return one(r, slices.Sorted(maps.Keys(e.Tables))...)
	}
	name := e.fresh("table")
	t := &table{Paths: map[string]*route{}}
	for _, path := range []string{"/a", "/b", "/"} {
		t.Paths[path] = e.route(r)
	}
	e.Tables[name] = t
	return name
}

func (e *estate) route(r *rand.Rand) *route {
	to := &route{Clusters: []string{e.someService(r)}}
	if r.IntN(4) == 0 {
		to.Clusters = append(to.Clusters, e.someService(r))
	}
	if r.IntN(6) == 0 {
		to.Mirror = e.someService(r)
	}
	return to
}

func (e *estate) someService(r *rand.Rand) string {
	if len(e.Services) > 0 && r.IntN(2) == 0 {
		return one(r, slices.Sorted(maps.Keys(e.Services))...)
	}
	return e.service(r)
}

func (e *estate) service(r *rand.Rand) string {
	name := e.fresh("cluster")
	s := &service{Kind: one(r, "EDS", "EDS", "EDS", "STATIC", "STRICT_DNS"), Hosts: name, Timeout: 1, Checked: r.IntN(5) == 0}
	if r.IntN(5) == 0 {
		s.CA = e.fresh("ca")
	}
	if r.IntN(8) == 0 {
		s.Kind, s.Members, s.CA, s.Checked = "aggregate", []string{e.plain(r), e.plain(r)}, "", false
	} else {
		e.Hosts[name] = e.hosts(r)
	}
	e.Services[name] = s
	return name
}

// plain returns a new cluster that can be the member of an aggregate.
func (e *estate) plain(r *rand.Rand) string {
	name := e.fresh("cluster")
	e.Services[name] = &service{Kind: one(r, "EDS", "STATIC"), Hosts: name, Timeout: 1}
	e.Hosts[name] = e.hosts(r)
	return name
}

func (e *estate) hosts(r *rand.Rand) []int {
	e.Made++
	all := []int{e.Made}
	for r.IntN(2) == 0 && len(all) < 3 {
		e.Made++
		all = append(all, e.Made)
	}
	return all
}

func (e *estate) filter(r *rand.Rand) *filter {
	f := &filter{Kind: one(r, "rbac", "ecds", "mutation", "authz")}
	f.Name = e.fresh(f.Kind)
	if f.Kind == "authz" {
		f.Cluster = e.someService(r)
	}
	return f
}

func one[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// texts writes the estate as files.
func (e *estate) texts() map[string][]byte {
	w := &estateWriter{estate: e, files: map[string]*strings.Builder{}, done: map[string]bool{}, guards: map[string][]string{}}
	for _, d := range e.Doors {
		for _, f := range d.Filters {
			for _, t := range d.tables() {
				if f.Kind == "rbac" && !slices.Contains(w.guards[t], f.Name) {
					w.guards[t] = append(w.guards[t], f.Name)
				}
			}
		}
	}
	for _, d := range e.Doors {
		w.door(d)
	}
	all := map[string][]byte{}
	for name, text := range w.files {
		all[name+".yaml"] = []byte(text.String())
	}
	return all
}

func (d *entrance) tables() []string {
	switch d.Routes {
	case "tcp":
		return nil
	case "scoped":
		var all []string
		for _, name := range slices.Sorted(maps.Keys(d.Scopes)) {
			all = append(all, d.Scopes[name].Table)
		}
		return all
	}
	return []string{d.To}
}

type estateWriter struct {
	*estate
	files  map[string]*strings.Builder
	done   map[string]bool
	guards map[string][]string // by table: the filters of which each route is exempt
}

const (
	overADS = "{resource_api_version: V3, ads: {}}"
	typeOf  = `"@type": type.googleapis.com/`
)

func (w *estateWriter) put(file, format string, args ...any) {
	if w.files[file] == nil {
		w.files[file] = &strings.Builder{}
	}
	fmt.Fprintf(w.files[file], format+"\n", args...)
}

func (w *estateWriter) first(what, name string) bool {
	known := w.done[what+name]
	w.done[what+name] = true
	return !known
}

func (w *estateWriter) door(d *entrance) {
	w.put("listeners", `- %senvoy.config.listener.v3.Listener
  name: %s
  address: {socket_address: {address: 0.0.0.0, port_value: %d}}
  per_connection_buffer_limit_bytes: %d
  filter_chains:
  - filters:`, typeOf, d.Name, d.Port, d.Buffer)
	if d.Routes == "tcp" {
		w.put("listeners", `    - name: tcp
      typed_config: {%senvoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: tcp, cluster: %s}`, typeOf, d.To)
		w.cluster(d.To)
		return
	}
	w.put("listeners", `    - name: http
      typed_config:
        %senvoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
        stat_prefix: http`, typeOf)
	switch d.Routes {
	case "rds":
		w.put("listeners", "        rds: {route_config_name: %s, config_source: %s}", d.To, overADS)
		w.table(d.To)
	case "inline":
		w.put("listeners", "        route_config: %s", w.routes(d.To))
	case "scoped":
		w.put("listeners", `        scoped_routes:
          name: tenants
          scope_key_builder: {fragments: [{header_value_extractor: {name: x-tenant, index: 0}}]}
          rds_config_source: %[1]s
          scoped_rds: {scoped_rds_config_source: %[1]s}`, overADS)
		for _, name := range slices.Sorted(maps.Keys(d.Scopes)) {
			s := d.Scopes[name]
			w.put("scopes", `- {%senvoy.config.route.v3.ScopedRouteConfiguration, name: %s, route_configuration_name: %s, key: {fragments: [{string_key: %s}]}}`,
				typeOf, name, s.Table, s.Key)
			w.table(s.Table)
		}
	}
	w.put("listeners", "        http_filters:")
	for _, f := range d.Filters {
		w.filter(f)
	}
	w.put("listeners", "        - {name: router, typed_config: {%senvoy.extensions.filters.http.router.v3.Router}}", typeOf)
	if d.Secret != "" {
		w.put("listeners", `    transport_socket:
      name: tls
      typed_config:
        %senvoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
        common_tls_context: {tls_certificate_sds_secret_configs: [{name: %s, sds_config: %s}]}`, typeOf, d.Secret, overADS)
		if w.first("secret", d.Secret) {
			w.put("secrets", `- {%senvoy.extensions.transport_sockets.tls.v3.Secret, name: %[2]s, tls_certificate: {certificate_chain: {filename: /%[2]s.crt}, private_key: {filename: /%[2]s.key}}}`,
				typeOf, d.Secret)
		}
	}
}

const mutation = typeOf + `envoy.extensions.filters.http.header_mutation.v3.HeaderMutation, mutations: {request_mutations: [{append: {header: {key: x-a, value: %q}}}]}`

func (w *estateWriter) filter(f *filter) {
	switch f.Kind {
	case "rbac":
		w.put("listeners", `        - name: %s
          typed_config: {%senvoy.extensions.filters.http.rbac.v3.RBAC, rules: {action: ALLOW, policies: {none: {permissions: [{any: true}], principals: [{header: {name: x-staff, present_match: true}}]}}}}`,
			f.Name, typeOf)
	case "mutation":
		w.put("listeners", "        - {name: %s, typed_config: {"+mutation+"}}", f.Name, f.Name)
	case "authz":
		w.put("listeners", `        - name: %s
          typed_config: {%senvoy.extensions.filters.http.ext_authz.v3.ExtAuthz, http_service: {server_uri: {uri: "http://authz", cluster: %s, timeout: 20s}}}`,
			f.Name, typeOf, f.Cluster)
		w.cluster(f.Cluster)
	case "ecds":
		w.put("listeners", `        - {name: %s, config_discovery: {config_source: %s, type_urls: [type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation]}}`,
			f.Name, overADS)
		if w.first("extension", f.Name) {
			w.put("extensions", "- {%senvoy.config.core.v3.TypedExtensionConfig, name: %s, typed_config: {"+mutation+"}}", typeOf, f.Name, f.Name)
		}
	}
}

func (w *estateWriter) table(name string) {
	if w.first("table", name) {
		w.put("routes", "- {%senvoy.config.route.v3.RouteConfiguration, %s", typeOf, w.routes(name)[1:])
	}
}

func (w *estateWriter) routes(name string) string {
	var all, guards []string
	for _, f := range w.guards[name] {
		guards = append(guards, fmt.Sprintf("%s: {%senvoy.extensions.filters.http.rbac.v3.RBACPerRoute}", f, typeOf))
	}
	paths := w.Tables[name].Paths
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(paths))) {
		to := paths[path]
		var weighted []string
		for _, c := range to.Clusters {
			weighted = append(weighted, fmt.Sprintf("{name: %s, weight: 50}", c))
			w.cluster(c)
		}
		action := fmt.Sprintf("weighted_clusters: {clusters: [%s]}", strings.Join(weighted, ", "))
		if len(to.Clusters) == 1 {
			action = "cluster: " + to.Clusters[0]
		}
		if to.Mirror != "" {
			w.cluster(to.Mirror)
			action += fmt.Sprintf(", request_mirror_policies: [{cluster: %s}]", to.Mirror)
		}
		all = append(all, fmt.Sprintf("{match: {prefix: %s}, route: {%s}, typed_per_filter_config: {%s}}", path, action, strings.Join(guards, ", ")))
	}
	return fmt.Sprintf(`{name: %s, virtual_hosts: [{name: all, domains: ["*"], routes: [%s]}]}`, name, strings.Join(all, ", "))
}

func (w *estateWriter) cluster(name string) {
	if !w.first("cluster", name) {
		return
	}
	s := w.Services[name]
	w.put("clusters", "- %senvoy.config.cluster.v3.Cluster\n  name: %s\n  connect_timeout: %ds", typeOf, name, s.Timeout)
	switch s.Kind {
	case "aggregate":
		w.put("clusters", `  lb_policy: CLUSTER_PROVIDED
  cluster_type: {name: envoy.clusters.aggregate, typed_config: {%senvoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: [%s]}}`,
			typeOf, strings.Join(s.Members, ", "))
		for _, member := range s.Members {
			w.cluster(member)
		}
		return
	case "EDS":
		w.put("clusters", "  type: EDS\n  eds_cluster_config: {eds_config: %s, service_name: %s}", overADS, s.Hosts)
		if w.first("hosts", s.Hosts) {
			w.put("endpoints", "- {%senvoy.config.endpoint.v3.ClusterLoadAssignment, %s", typeOf, w.assignment(s.Hosts, s.Hosts)[1:])
		}
	default:
		w.put("clusters", "  type: %s\n  load_assignment: %s", s.Kind, w.assignment(name, s.Hosts))
	}
	if s.Checked {
		w.put("clusters", "  health_checks: [{timeout: 2s, interval: 2s, unhealthy_threshold: 3, healthy_threshold: 1, http_health_check: {path: /healthz}}]")
	}
	if s.CA != "" {
		w.put("clusters", `  transport_socket:
    name: tls
    typed_config: {%senvoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, sni: shop, common_tls_context: {validation_context_sds_secret_config: {name: %s, sds_config: %s}}}`,
			typeOf, s.CA, overADS)
		if w.first("secret", s.CA) {
			w.put("secrets", `- {%senvoy.extensions.transport_sockets.tls.v3.Secret, name: %s, validation_context: {trusted_ca: {filename: /ca.pem}}}`, typeOf, s.CA)
		}
	}
}

func (w *estateWriter) assignment(name, hosts string) string {
	var all []string
	for _, n := range w.Hosts[hosts] {
		all = append(all, fmt.Sprintf("{endpoint: {address: {socket_address: {address: 10.%d.%d.1, port_value: 8080}}}}", n/250, n%250))
	}
	return fmt.Sprintf("{cluster_name: %s, endpoints: [{lb_endpoints: [%s]}]}", name, strings.Join(all, ", "))
}
