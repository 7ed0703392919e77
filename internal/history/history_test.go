package history_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/history"
	"github.com/xdslint/xdslint/internal/source"
)

const (
	clusterType = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
	secretType  = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret"
)

// opened are the methods of streams.
const (
	ads      = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"
	adsDelta = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources"
	cds      = "/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters"
)

// tape writes a recording, with an event each second.
type tape struct {
	text strings.Builder
	at   time.Time
}

func newTape(part int) *tape {
	t := &tape{at: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	fmt.Fprintf(&t.text, `{"recording":{"version":1,"id":"a","part":%d}}`+"\n", part)
	return t
}

func (t *tape) event(stream int, format string, args ...any) *tape {
	fmt.Fprintf(&t.text, `{"time":%q,"stream":%d,%s}`+"\n", t.at.Format(time.RFC3339), stream, fmt.Sprintf(format, args...))
	t.at = t.at.Add(time.Second)
	return t
}

func (t *tape) open(stream int, method string) *tape {
	return t.event(stream, `"opened":{"method":%q}`, method)
}

// ask sends a request with more fields.
func (t *tape) ask(stream int, url, more string) *tape {
	return t.event(stream, `"request":{"type_url":%q%s}`, url, more)
}

// clusters sends the clusters of those names in SotW, and gets an answer.
func (t *tape) clusters(stream int, nonce, answer string, names ...string) *tape {
	var all []string
	for _, name := range names {
		all = append(all, fmt.Sprintf(`{"@type":%q,"name":%q,"version":"1"}`, clusterType, name))
	}
	t.event(stream, `"response":{"type_url":%q,"nonce":%q,"resources":[%s]}`, clusterType, nonce, strings.Join(all, ","))
	return t.ask(stream, clusterType, fmt.Sprintf(`,"response_nonce":%q%s`, nonce, answer))
}

const (
	node   = `,"node":{"id":"edge-1","user_agent_name":"envoy"}`
	accept = ``
	reject = `,"error_detail":{"message":"no"}`
)

func read(t *testing.T, tapes ...*tape) []*history.Client {
	t.Helper()
	var files []*source.File
	for i, one := range tapes {
		files = append(files, &source.File{Name: fmt.Sprint(i), Text: []byte(one.text.String())})
	}
	parts, err := history.Parts(files)
	if err != nil {
		t.Fatal(err)
	}
	clients, err := history.Read(t.Context(), parts)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

// has returns what a client has at a time, as names; what it rejected, with a !.
func has(t *testing.T, c *history.Client, at time.Time) (names []string) {
	t.Helper()
	for _, r := range c.At(t.Context(), nil, at) {
		name := r.Name
		if r.State == graph.Failed {
			name = "!" + name
		}
		names = append(names, name)
	}
	return names
}

func want(t *testing.T, got []string, names ...string) {
	t.Helper()
	if !slices.Equal(got, names) {
		t.Errorf("got %v, want %v", got, names)
	}
}

func TestStateOfTheWorld(t *testing.T) {
	tp := newTape(1).open(1, ads).ask(1, clusterType, node).clusters(1, "a", accept, "shop", "cart")
	before := tp.at.Add(-time.Second)
	tp.clusters(1, "b", accept, "cart", "pay").clusters(1, "c", reject, "bad").ask(1, secretType, `,"resource_names":["web","api"]`)
	tp.event(1, `"response":{"type_url":%q,"resources":[{"@type":%q,"name":"web"},{"@type":%[1]q,"name":"api"}]}`, secretType, secretType)
	late := tp.at.Add(-time.Second)
	tp.ask(1, secretType, `,"resource_names":["api"]`)
	c := read(t, tp)[0]
	want(t, has(t, c, before), "shop", "cart")
	want(t, has(t, c, late), "cart", "pay", "web", "api", "!bad")
	want(t, has(t, c, time.Time{}), "cart", "pay", "api", "!bad")
	if c.Resumed || c.Several || c.Node != "edge-1" || c.UserAgent != "envoy" {
		t.Errorf("%+v", c)
	}
}

// TestLongLists: names that are repeated from request to request are those that the client asks for.
func TestLongLists(t *testing.T) {
	var names, all []string
	for i := range 200 {
		names = append(names, fmt.Sprint("service-", i))
		all = append(all, fmt.Sprintf(`{"@type":%q,"name":%q}`, secretType, names[i]))
	}
	named := func(names []string) string {
		return fmt.Sprintf(`,"resource_names":["%s"]`, strings.Join(names, `","`))
	}
	tp := newTape(1).open(1, ads).ask(1, secretType, node+named(names))
	tp.event(1, `"response":{"type_url":%q,"nonce":"a","resources":[%s]}`, secretType, strings.Join(all, ","))
	tp.ask(1, secretType, `,"response_nonce":"a"`+named(names))
	want(t, has(t, read(t, tp)[0], time.Time{}), names...)
	tp.ask(1, secretType, `,"response_nonce":"a"`+named(names[:150]))
	want(t, has(t, read(t, tp)[0], time.Time{}), names[:150]...)
	tp.ask(1, secretType, `,"response_nonce":"a"`+named(names)).ask(1, secretType, `,"response_nonce":"a"`+named(names[:150]))
	c := read(t, tp)[0]
	if steps := len(c.Steps); steps != 3 {
		t.Errorf("%d steps, want 3: the response, and twice the end of a subscription", steps)
	}
}

// TestRejectedOnce: what is accepted later is no longer what was rejected.
func TestRejectedOnce(t *testing.T) {
	tp := newTape(1).open(1, ads).ask(1, clusterType, node).clusters(1, "a", reject, "bad").clusters(1, "b", accept, "shop")
	want(t, has(t, read(t, tp)[0], time.Time{}), "shop")
}

func TestDelta(t *testing.T) {
	tp := newTape(1).open(1, adsDelta).ask(1, clusterType, node)
	send := func(removed string, names ...string) {
		var all []string
		for _, name := range names {
			all = append(all, fmt.Sprintf(`{"name":%q,"version":"1","ttl":"5s","resource":{"@type":%q,"name":%[1]q}}`, name, clusterType))
		}
		tp.event(1, `"response":{"type_url":%q,"resources":[%s],"removed_resources":[%s]}`, clusterType, strings.Join(all, ","), removed)
	}
	send("", "shop", "cart")
	send(`"shop"`, "pay")
	tp.event(1, `"response":{"type_url":%q,"resources":[{"name":"pay","ttl":"5s"}]}`, clusterType) // a heartbeat
	c := read(t, tp)[0]
	want(t, has(t, c, time.Time{}), "cart", "pay")
	if r := c.At(t.Context(), nil, time.Time{})[0]; r.Version != "1" || r.TTL != 5*time.Second {
		t.Errorf("version %q, TTL %s", r.Version, r.TTL)
	}
}

// TestSame: a resource that is sent again as it was is the same one.
func TestSame(t *testing.T) {
	tp := newTape(1).open(1, ads).ask(1, clusterType, node).clusters(1, "a", accept, "shop").clusters(1, "b", accept, "cart", "shop")
	c := read(t, tp)[0]
	s := history.NewState(nil)
	s.Apply(t.Context(), c.Steps[0])
	first := s.Resources()[0]
	s.Apply(t.Context(), c.Steps[1])
	if all := s.Resources(); all[0] != first || len(all) != 2 {
		t.Errorf("%v", all)
	}
}

// TestClients: which streams are those of one client.
func TestClients(t *testing.T) {
	again := newTape(1).open(1, ads).ask(1, clusterType, node).clusters(1, "a", accept, "shop").event(1, `"closed":{}`)
	again.open(2, ads).ask(2, clusterType, node+`,"version_info":"1"`).clusters(2, "a", accept, "cart")
	clients := read(t, again)
	if len(clients) != 1 || clients[0].Resumed {
		t.Errorf("a stream after the other: %d clients, %+v", len(clients), clients[0])
	}
	twice := newTape(1).open(1, ads).ask(1, clusterType, node).open(2, ads).ask(2, clusterType, node)
	if n := len(read(t, twice)); n != 2 {
		t.Errorf("two aggregated streams at the same time: %d clients", n)
	}
	separate := newTape(1).open(1, cds).ask(1, clusterType, node).open(2, cds).ask(2, clusterType, node)
	if clients := read(t, separate); len(clients) != 1 || !clients[0].Several {
		t.Errorf("two streams for clusters at the same time: %d clients, %+v", len(clients), clients[0])
	}
	resumed := newTape(1).open(1, ads).ask(1, clusterType, node+`,"version_info":"7"`)
	if c := read(t, resumed)[0]; !c.Resumed {
		t.Errorf("%+v", c)
	}
}

// TestParts: parts continue one another, in whatever order they are given; another recording begins with nothing.
func TestParts(t *testing.T) {
	first := newTape(1).open(1, ads).ask(1, clusterType, node)
	second := newTape(2).clusters(1, "a", accept, "shop")
	want(t, has(t, read(t, second, first)[0], time.Time{}), "shop")
	third := newTape(3).clusters(1, "b", accept, "cart")
	want(t, has(t, read(t, first, third)[0], time.Time{}))
}

// TestAlone: of two responses that are under way at the same time, it is not known which one the client used first.
func TestAlone(t *testing.T) {
	tp := newTape(1).open(1, ads).ask(1, clusterType, node).clusters(1, "a", accept, "shop")
	tp.event(1, `"response":{"type_url":%q,"nonce":"b"}`, clusterType).event(1, `"response":{"type_url":%q,"nonce":"c"}`, secretType)
	tp.ask(1, secretType, `,"response_nonce":"c"`).ask(1, clusterType, `,"response_nonce":"b"`)
	c := read(t, tp)[0]
	for i, alone := range []bool{true, false, false} {
		if got := c.Alone(i); got != alone {
			t.Errorf("step %d: %t", i, got)
		}
	}
}
