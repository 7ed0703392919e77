package transition_test

import (
	"strings"
	"testing"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/transition"
)

// part is a part of a snapshot as YAML.
type part string

// hosts returns a route table with virtual hosts from "domain: routes".
func hosts(name string, all ...string) part {
	var list []string
	for i, each := range all {
		domain, routes, _ := strings.Cut(each, ": ")
		list = append(list, `{name: host`+string(rune('a'+i))+`, domains: ["`+domain+`"], routes: [`+routes+`]}`)
	}
	return part(`
- {"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration, name: ` + name + `, virtual_hosts: [` + strings.Join(list, ", ") + `]}`)
}

// to returns a route with a match.
func to(cluster, match string) string {
	return `{match: {` + match + `}, route: {cluster: ` + cluster + `}}`
}

func reject(match string) string { return `{match: {` + match + `}, direct_response: {status: 404}}` }

// edge returns a listener with filter chains from "fields of the match -> route table"; the match may be "default".
func edge(chains ...string) part {
	text := `
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: edge
  address: {socket_address: {address: 0.0.0.0, port_value: 8080}}
  filter_chains: [`
	last := ""
	for _, each := range chains {
		if match, table, _ := strings.Cut(each, " -> "); match == "default" {
			last = "\n  default_filter_chain: {" + filters(`rds: {route_config_name: `+table+`, config_source: {ads: {}}}`) + "}"
		} else {
			text += "{filter_chain_match: {" + match + "}, " + filters(`rds: {route_config_name: `+table+`, config_source: {ads: {}}}`) + "}, "
		}
	}
	return part(text + "]" + last)
}

func filters(routes string) string {
	return `filters: [{name: hcm, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: edge, ` + routes + `}}]`
}

// scopes returns a listener with scoped routes from "key -> route table".
func scopes(all ...string) part {
	text := `
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: edge
  address: {socket_address: {address: 0.0.0.0, port_value: 8080}}
  filter_chains: [{` + filters(`scoped_routes: {name: scopes, scope_key_builder: {fragments: [{header_value_extractor: {name: x-tenant, index: 0}}]},
    rds_config_source: {ads: {}}, scoped_rds: {scoped_rds_config_source: {ads: {}}}}`) + `}]`
	for _, each := range all {
		key, table, _ := strings.Cut(each, " -> ")
		text += `
- {"@type": type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration, name: of-` + key + table + `, route_configuration_name: ` + table + `, key: {fragments: [{string_key: ` + key + `}]}}`
	}
	return part(text)
}

// clusters returns the clusters of a snapshot, its last part.
func clusters(names ...string) part {
	text := ""
	for _, name := range names {
		text += `
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: ` + name + `, connect_timeout: 1s}`
	}
	return part(text)
}

func join(parts ...part) (text string) {
	for _, each := range parts {
		text += string(each)
	}
	return text
}

// A cluster that is added too late affects only requests that were answered before the push, and one that is removed too early
// only those that are answered after it: each push is judged in both directions.
func TestReach(t *testing.T) {
	plain := edge(" -> old")
	table := func(all ...string) string { return join(plain, hosts("old", all...)) }
	with := func(listener part, leadsTo []string) string { // the tables to which it leads
		text := join(listener, hosts("old", "*: "+to("c", "prefix: /")))
		if strings.Contains(strings.Join(leadsTo, " "), "-> new") {
			text += join(hosts("new", "*: "+to("d", "prefix: /")))
		}
		return text
	}
	chains := func(all ...string) string { return with(edge(all...), all) }
	scoped := func(all ...string) string { return with(scopes(all...), all) }
	for name, test := range map[string]struct {
		without, with string // cluster d
		hazard        bool
	}{
		"a catch-all route":                    {table("*: " + to("c", "prefix: /api")), table("*: " + to("c", "prefix: /api") + ", " + to("d", "prefix: /")), false},
		"a route before all":                   {table("*: " + to("c", "prefix: /")), table("*: " + to("d", "prefix: /api") + ", " + to("c", "prefix: /")), true},
		"a route behind all":                   {table("*: " + to("c", "prefix: /")), table("*: " + to("c", "prefix: /") + ", " + to("d", "prefix: /api")), false},
		"a route behind all with a header":     {table("*: " + to("c", "prefix: /")), table("*: " + to("c", "prefix: /, headers: [{name: x}]") + ", " + to("d", "prefix: /")), true},
		"a path, then a prefix":                {table("*: " + to("c", "path: /a")), table("*: " + to("c", "path: /a") + ", " + to("d", "prefix: /")), false},
		"a prefix before a path":               {table("*: " + to("c", "path: /a")), table("*: " + to("d", "prefix: /") + ", " + to("c", "path: /a")), true},
		"a path that was rejected":             {table("*: " + to("c", "prefix: /api") + ", " + reject("prefix: /")), table("*: " + to("c", "prefix: /api") + ", " + to("d", "prefix: /")), false},
		"a path that was rejected before all":  {table("*: " + reject("prefix: /x") + ", " + to("c", "prefix: /")), table("*: " + to("d", "prefix: /x") + ", " + to("c", "prefix: /")), false},
		"another path in any case":             {table("*: " + to("c", "prefix: /api")), table("*: " + to("c", "prefix: /api") + ", " + to("d", "prefix: /new, case_sensitive: false")), false},
		"the same path in any case":            {table("*: " + to("c", "prefix: /api")), table("*: " + to("d", "prefix: /API, case_sensitive: false")), true},
		"the same path in any case, behind":    {table("*: " + to("c", "prefix: /api")), table("*: " + to("c", "prefix: /api") + ", " + to("d", "prefix: /API, case_sensitive: false")), false},
		"another method":                       {table("*: " + to("c", "prefix: /, "+method("GET"))), table("*: " + to("c", "prefix: /, "+method("GET")) + ", " + to("d", "prefix: /, "+method("POST"))), false},
		"one of all methods":                   {table("*: " + to("c", "prefix: /")), table("*: " + to("d", "prefix: /, "+method("POST")) + ", " + to("c", "prefix: /")), true},
		"a catch-all host":                     {table("a.example.com: " + to("c", "prefix: /")), table("a.example.com: "+to("c", "prefix: /"), "*: "+to("d", "prefix: /")), false},
		"a host out of the catch-all":          {table("*: " + to("c", "prefix: /")), table("*: "+to("c", "prefix: /"), "a.example.com: "+to("d", "prefix: /")), true},
		"a wildcard next to a host":            {table("a.example.com: " + to("c", "prefix: /")), table("a.example.com: "+to("c", "prefix: /"), "*.example.com: "+to("d", "prefix: /")), false},
		"a wildcard instead of a host":         {table("a.example.com: " + to("c", "prefix: /")), table("*.example.com: " + to("d", "prefix: /")), true},
		"a wildcard around another":            {table("*.a.example.com: " + to("c", "prefix: /")), table("*.a.example.com: "+to("c", "prefix: /"), "*.example.com: "+to("d", "prefix: /")), false},
		"a wildcard out of the catch-all":      {table("*: " + to("c", "prefix: /")), table("*: "+to("c", "prefix: /"), "*.example.com: "+to("d", "prefix: /")), true},
		"a host that was rejected":             {table("*: "+to("c", "prefix: /"), "a.example.com: "+reject("prefix: /")), table("*: "+to("c", "prefix: /"), "a.example.com: "+to("d", "prefix: /")), false},
		"a cluster that was missing":           {table("*: " + to("nope", "prefix: /")), table("*: " + to("d", "prefix: /")), false},
		"a default chain":                      {chains("server_names: [a.example.com] -> old"), chains("server_names: [a.example.com] -> old", "default -> new"), false},
		"a default chain for all":              {chains("server_names: [a.example.com] -> old"), chains("default -> new"), true},
		"a chain without names":                {chains("server_names: [a.example.com] -> old"), chains("server_names: [a.example.com] -> old", " -> new"), false},
		"a chain out of the default":           {chains("default -> old"), chains("server_names: [a.example.com] -> new", "default -> old"), true},
		"a chain out of one without names":     {chains(" -> old"), chains("server_names: [a.example.com] -> new", " -> old"), true},
		"TLS next to plain text":               {chains("transport_protocol: raw_buffer -> old"), chains("transport_protocol: raw_buffer -> old", "transport_protocol: tls -> new"), false},
		"TLS out of all":                       {chains(" -> old"), chains(" -> old", "transport_protocol: tls -> new"), true},
		"another port":                         {chains("destination_port: 80 -> old"), chains("destination_port: 80 -> old", "destination_port: 81 -> new"), false},
		"one of all ports":                     {chains(" -> old"), chains(" -> old", "destination_port: 81 -> new"), true},
		"other application protocols":          {chains("application_protocols: [h2] -> old"), chains("application_protocols: [h2] -> old", "application_protocols: [http/1.1] -> new"), false},
		"other addresses":                      {chains(addresses("10.0.0.0", "8") + " -> old"), chains(addresses("10.0.0.0", "8")+" -> old", addresses("192.168.0.0", "16")+" -> new"), false},
		"some of the addresses":                {chains(addresses("10.0.0.0", "8") + " -> old"), chains(addresses("10.0.0.0", "8")+" -> old", addresses("10.1.0.0", "16")+" -> new"), true},
		"another scope":                        {scoped("a -> old"), scoped("a -> old", "b -> new"), false},
		"another table of the scope":           {scoped("a -> old"), scoped("a -> new"), true},
		"another name of the scope, and table": {scoped("a -> old", "b -> old"), scoped("a -> old", "b -> new"), true},
	} {
		t.Run(name, func(t *testing.T) {
			without, with := test.without+string(clusters("c")), test.with+string(clusters("c", "d"))
			for rule, sides := range map[string][2]string{"route-before-cluster": {without, with}, "delete-referenced-cluster": {with, without}} {
				if test.hazard != finds(t, rule, sides[0], sides[1]) {
					t.Errorf("%s: %t", rule, !test.hazard)
				}
			}
		})
	}
}

func method(name string) string {
	return `headers: [{name: ":method", string_match: {exact: ` + name + `}}]`
}

func addresses(prefix, bits string) string {
	return `prefix_ranges: [{address_prefix: ` + prefix + `, prefix_len: ` + bits + `}]`
}

// Clusters of the bootstrap, which a server's snapshot does not have, can replace those that are removed.
func TestMassRemovalMoved(t *testing.T) {
	table := func(cluster string) string {
		return join(edge(" -> old"), hosts("old", "*: "+to(cluster, "prefix: /")))
	}
	for cluster, want := range map[string]bool{"static": false, "c": true} {
		if finds(t, "mass-removal", table("c")+string(clusters("c")), table(cluster)) != want {
			t.Errorf("to %s: %t", cluster, !want)
		}
	}
}

func finds(t *testing.T, rule, before, after string) bool {
	t.Helper()
	changes := graph.Diff(snapshot(t, before, graph.Assumptions{}), snapshot(t, after, graph.Assumptions{}))
	result := lint.Run(t.Context(), []*graph.Snapshot{changes.New}, lint.Config{
		Rules: transition.Rules.Rules(), Transition: &lint.Transition{Changes: changes},
	})
	for _, d := range result.Diagnostics {
		if d.Rule.Name == rule && d.Severity > lint.Info {
			return true
		}
	}
	return false
}
