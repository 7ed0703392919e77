package walktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/walk"
)

// RunElsewhere compares the requests of configurations that the bench does not make: bootstraps in YAML or JSON by their names. It leaves out those
// that Envoy does not start with when they are moved to this machine.
func RunElsewhere(ctx context.Context, texts map[string]string, o Options) (*Report, error) {
	b, err := newBench()
	if err != nil {
		return nil, err
	}
	defer b.close()
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		if err := b.elsewhere(ctx, name, texts[name], o.Requests, o.Seed+uint64(i)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		o.progress("%s: %d configurations, %d requests, %d disagreements", name, b.report.Configurations, b.report.Requests, len(b.report.Disagreements))
	}
	return &b.report, nil
}

// elsewhere compares the requests of one bootstrap.
func (b *bench) elsewhere(ctx context.Context, name, text string, requests int, seed uint64) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var tree obj
	if yaml.Unmarshal([]byte(text), &tree) != nil {
		return nil
	}
	m := &mover{bench: b}
	if _, err := json.Marshal(tree); err != nil || !m.move(tree) {
		return nil
	}
	e, err := envoytest.Serve(ctx, jsonOf(tree), ".json")
	if errors.Is(err, envoytest.ErrEnded) || errors.Is(err, context.DeadlineExceeded) {
		b.report.Rejected = append(b.report.Rejected, name)
		return nil
	}
	if err != nil {
		return err
	}
	defer e.Close()
	for _, l := range m.listeners {
		address, err := e.Addr(ctx, l["name"].(string))
		if err != nil {
			return nil // the listener waits for something that does not exist here
		}
		_, port, _ := net.SplitHostPort(address)
		number, err := strconv.Atoi(port)
		if err != nil {
			return err
		}
		l["address"] = obj{"socket_address": obj{"address": "127.0.0.1", "port_value": number}}
	}
	view, err := read(ctx, jsonOf(tree))
	if err != nil {
		return nil
	}
	b.report.Configurations++
	walker, boundaries := walk.New(view), walk.BoundariesOf(view)
	if len(boundaries.Authorities) == 0 {
		boundaries.Authorities = []string{"any.test"}
	}
	for i, l := range m.listeners {
		port := l["address"].(obj)["socket_address"].(obj)["port_value"].(int)
		made := &maker{Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		c := &configuration{tls: m.tls[i], proxied: strings.Contains(jsonOf(l), "proxy_protocol.v3"), waits: true}
		if err := b.askElsewhere(ctx, name, l["name"].(string), fmt.Sprintf("127.0.0.1:%d", port), walker, boundaries, made, c, e, requests); err != nil {
			return err
		}
	}
	return nil
}

// askElsewhere compares the requests to one listener. What does not answer in time is left out.
func (b *bench) askElsewhere(ctx context.Context, name, listener, address string, walker *walk.Walker, boundaries walk.Boundaries, m *maker, c *configuration, e *envoytest.Envoy, requests int) error {
	var sent []*walk.Request
	var all []seen
	before := len(e.Log())
	for range requests {
		r := m.aimed(walker, boundaries, c)
		r.Listener.Name = listener
		s, err := b.send(ctx, address, r)
		if err != nil {
			continue
		}
		sent, all = append(sent, r), append(all, s)
	}
	anonymous(all)
	limited, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	log, err := b.logs(limited, e, before, all)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	for i, r := range sent {
		all[i].log = log[all[i].key]
		a, err := walker.Walk(r)
		if err != nil {
			return err
		}
		b.judgeNamed(name, r, a, all[i])
	}
	return nil
}

// mover moves a bootstrap to this machine: listeners get free ports, and endpoints the address of an upstream of the bench.
type mover struct {
	bench     *bench
	listeners []obj
	tls       []bool
}

// move reports whether the bootstrap has something to send requests to.
func (m *mover) move(tree obj) bool {
	static, _ := tree["static_resources"].(obj)
	if static == nil || tree["dynamic_resources"] != nil {
		return false
	}
	for name := range tree {
		if name != "static_resources" && name != "layered_runtime" && name != "node" {
			delete(tree, name)
		}
	}
	m.value(static)
	clusters, _ := static["clusters"].(list)
	for _, c := range clusters {
		if c, ok := c.(obj); ok {
			m.cluster(c)
		}
	}
	var kept list
	listeners, _ := static["listeners"].(list)
	for i, l := range listeners {
		if l, ok := l.(obj); ok && m.listener(l, i) {
			kept = append(kept, l)
		}
	}
	static["listeners"] = kept
	return len(m.listeners) > 0
}

// listener reports whether a listener can stay.
func (m *mover) listener(l obj, i int) bool {
	text := jsonOf(l)
	if l["udp_listener_config"] != nil || l["api_listener"] != nil || l["internal_listener"] != nil || !strings.Contains(text, "http_connection_manager.v3.HttpConnectionManager") ||
		strings.Contains(text, `"rds"`) || strings.Contains(text, "scoped_rds") || strings.Contains(text, "config_discovery") || strings.Contains(text, "sds_config") {
		return false
	}
	if l["name"] == nil {
		l["name"] = fmt.Sprintf("listener-%d", i)
	}
	for _, name := range []string{"additional_addresses", "freebind", "transparent", "socket_options", "enable_reuse_port", "access_log"} {
		delete(l, name)
	}
	if l["bind_to_port"] == false {
		return true
	}
	l["address"] = obj{"socket_address": obj{"address": "127.0.0.1", "port_value": 0}}
	l["access_log"] = list{(&maker{}).accessLog()}
	m.listeners = append(m.listeners, l)
	m.tls = append(m.tls, strings.Contains(text, "DownstreamTlsContext"))
	return true
}

func (m *mover) cluster(c obj) {
	name, _ := c["name"].(string)
	for _, field := range []string{"transport_socket", "transport_socket_matches", "health_checks", "http2_protocol_options", "eds_cluster_config", "dns_resolvers", "upstream_bind_config"} {
		delete(c, field)
	}
	if c["cluster_type"] != nil || c["type"] == "ORIGINAL_DST" {
		return
	}
	c["type"] = "STATIC"
	if c["load_assignment"] == nil {
		c["load_assignment"] = upstream(name, m.bench.ports["shop"], false)["load_assignment"]
	}
	if options, ok := c["typed_extension_protocol_options"].(obj); ok {
		for _, held := range options {
			if held, ok := held.(obj); ok {
				for _, kind := range []string{"auto_config", "use_downstream_protocol_config", "explicit_http_config"} {
					delete(held, kind)
				}
				held["explicit_http_config"] = obj{"http_protocol_options": obj{}}
			}
		}
	}
}

// value replaces what is in a part of the bootstrap.
func (m *mover) value(v any) {
	switch v := v.(type) {
	case list:
		for _, item := range v {
			m.value(item)
		}
	case obj:
		m.object(v)
		for _, item := range v {
			m.value(item)
		}
	}
}

func (m *mover) object(o obj) {
	if endpoint, ok := o["endpoint"].(obj); ok && endpoint["address"] != nil {
		endpoint["address"] = obj{"socket_address": obj{"address": "127.0.0.1", "port_value": m.bench.ports["shop"]}}
	}
	if kind, _ := o["@type"].(string); strings.HasSuffix(kind, ".HttpConnectionManager") {
		delete(o, "tracing")
		o["access_log"] = list{(&maker{}).accessLog()}
	}
	for name, at := range map[string]int{"certificate_chain": 0, "private_key": 1, "trusted_ca": 0} {
		if o[name] != nil {
			o[name] = obj{"inline_string": m.bench.certificate[at]}
		}
	}
	delete(o, "watched_directory")
	delete(o, "ocsp_staple")
	delete(o, "crl")
}

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // configurations have only what JSON has
	}
	return string(text)
}
