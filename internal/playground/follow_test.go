package playground_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/playground"
	"github.com/xdslint/xdslint/internal/requestbar"
)

func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile("../../testdata/" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// followed asks the larger engine to follow a request.
func followed(t *testing.T, text string, asked requestbar.Asked, targets ...string) requestbar.Answer {
	t.Helper()
	return callOf[requestbar.Answer](t, larger, "follow", map[string]any{"files": files{"envoy.yaml": text}, "targets": targets, "asked": asked})
}

// lineAt returns the rest of a line.
func lineAt(text string, offset int) string {
	line, _, _ := strings.Cut(text[offset:], "\n")
	return line
}

// TestFollow: each step of a request has its place, and so do the candidates that were passed over.
func TestFollow(t *testing.T) {
	text := textOf(t, "walk/edge.yaml")
	a := followed(t, text, requestbar.Asked{Text: "https://shop.example.com/x/../cart/items?page=2"})
	var way []string
	for _, s := range a.Steps {
		name := s.Kind + " " + s.Name
		if s.State != "" {
			name += " " + s.State
		}
		way = append(way, name)
		if s.Location == nil || s.Location.Start == nil {
			t.Errorf("%s does not have a place", name)
		}
		for _, p := range s.Passed {
			if p.Location == nil || p.Location.Start == nil || p.Why == "" {
				t.Errorf("%s, not %s: %q, %v", name, p.Name, p.Why, p.Location)
			}
		}
	}
	want := []string{
		"listener edge", "filter chain shop", "route configuration shop", "virtual host shop", "route cart", "filter authz disabled", "filter router passes",
		"cluster cart", "endpoints priority 0, a", "endpoints priority 1, b",
	}
	if !slices.Equal(way, want) || a.Problem != "" || a.Tone != "passes" || a.Target != "envoy:1.40" {
		t.Errorf("%v, %+v", way, a)
	}
	if a.Title != "GET shop.example.com/x/../cart/items?page=2" || a.Outcome[0] != "The upstream sees GET /v2/cart/items?page=2, host cart.internal." {
		t.Errorf("%q: %q", a.Title, a.Outcome)
	}
	chain, route := a.Steps[1], a.Steps[4]
	if len(chain.Passed) != 1 || chain.Passed[0].Name != "admin" || !strings.Contains(lineAt(text, chain.Passed[0].Location.Start.Offset), "admin") {
		t.Errorf("passed over: %+v", chain.Passed)
	}
	if len(route.Passed) != 4 || route.Passed[0].Name != "cart-beta" || route.Passed[3].Why != "the path does not fit" {
		t.Errorf("passed over: %+v", route.Passed)
	}
}

// TestFollowUnknown: what depends on others is not known, the reason is at the filter, and both ways are shown.
func TestFollowUnknown(t *testing.T) {
	a := followed(t, textOf(t, "walk/edge.yaml"), requestbar.Asked{Text: "https://shop.example.com/basket/7"})
	i := slices.IndexFunc(a.Steps, func(s requestbar.Step) bool { return s.Name == "authz" })
	if i < 0 || a.Steps[i].State != "unknown" || !strings.Contains(a.Steps[i].Says, "asks a service") || len(a.Steps[i].Settings) != 1 {
		t.Errorf("%+v", a.Steps)
	}
	if !a.Doubtful || a.Outcome[0] != "Envoy answers 301 (direct_response)." || len(a.Unknown) != 1 || a.Unknown[0].Field != "status" {
		t.Errorf("%+v", a)
	}
}

// TestFollowSettings: of a filter that the route configures, both settings are shown, and no secret.
func TestFollowSettings(t *testing.T) {
	text := textOf(t, "posture/edge.yaml")
	a := followed(t, text, requestbar.Asked{Text: "GET http://pay.example.com/admin"})
	i := slices.IndexFunc(a.Steps, func(s requestbar.Step) bool { return s.Name == "jwt" })
	if i < 0 || a.Steps[i].State != "answers" || len(a.Steps[i].Settings) != 1 || a.Steps[i].Settings[0].Of != "filter chain" {
		t.Fatalf("%+v", a)
	}
	if set := a.Steps[i].Settings[0].Text; !strings.Contains(set, `"issuer": "https://id.example.com"`) || strings.Contains(set, "c2VjcmV0") {
		t.Error(set)
	}
	if last := a.Steps[len(a.Steps)-1]; last.Kind != "cluster" && last.State != "unreached" || a.Tone != "answers" {
		t.Errorf("%+v", a)
	}
}

// TestFollowForm: the form chooses the listener, and replaces what the text says of the connection.
func TestFollowForm(t *testing.T) {
	const two = `resources:
- {"@type": type.googleapis.com/envoy.config.listener.v3.Listener, name: a, address: {socket_address: {address: 0.0.0.0, port_value: 80}}, filter_chains: [{name: one}]}
- {"@type": type.googleapis.com/envoy.config.listener.v3.Listener, name: b, address: {socket_address: {address: 0.0.0.0, port_value: 8443}}, filter_chains: [{name: two, filter_chain_match: {server_names: [x.test]}}]}
`
	for _, c := range []struct {
		asked requestbar.Asked
		want  string
	}{
		{requestbar.Asked{Text: "http://x.test/"}, "a"},
		{requestbar.Asked{Text: "http://x.test:8443/"}, "b"},
		{requestbar.Asked{Text: "http://x.test/", Listener: "b"}, "b"},
		{requestbar.Asked{Text: "http://x.test:81/"}, "choose one of these listeners: a (port 80), b (port 8443)"},
		{requestbar.Asked{Text: "http://x.test/", Source: "nowhere"}, `"nowhere" is not an IP address`},
		{requestbar.Asked{Text: ""}, ""},
	} {
		a := followed(t, two, c.asked)
		got := a.Problem
		if len(a.Steps) > 0 {
			got = a.Steps[0].Name
		}
		if got != c.want || !slices.Equal(a.Listeners, []string{"a", "b"}) {
			t.Errorf("%+v: %q, want %q; %v", c.asked, got, c.want, a.Listeners)
		}
	}
}

// TestFollowRPC: with a target of gRPC, an RPC is followed.
func TestFollowRPC(t *testing.T) {
	text := textOf(t, "walk/grpc.yaml")
	a := followed(t, text, requestbar.Asked{Text: "xds:///orders.shop:443 /shop.Orders/Get"}, "grpc-go:1.85")
	if a.Problem != "" || a.Tone != "passes" || len(a.Steps) < 6 || a.Steps[0].Name != "orders.shop:443" || a.Steps[0].Location == nil {
		t.Errorf("%+v", a)
	}
	for _, c := range []struct{ text, target, want string }{
		{"GET http://a.test/", "grpc-go:1.85", "write the target of a channel and a method"},
		{"xds:///orders.shop:443 /shop.Orders/Get", "envoy:1.40", "choose grpc-go"},
		{"xds:///orders.shop:443 /shop.Orders/Get", "grpc-java", "is not known: choose envoy:1.40 or grpc-go:1.85"},
	} {
		if a := followed(t, text, requestbar.Asked{Text: c.text}, c.target); !strings.Contains(a.Problem, c.want) {
			t.Errorf("%s for %s: %q", c.text, c.target, a.Problem)
		}
	}
}

// TestHoles: each hole has its command, and that command put in the bar gets past the guards that the hole names.
func TestHoles(t *testing.T) {
	text := textOf(t, "posture/edge.yaml")
	h := callOf[requestbar.Holes](t, larger, "holes", map[string]any{"files": files{"envoy.yaml": text}})
	if len(h.Holes) != 7 || h.Partial || len(h.Examples) == 0 {
		t.Fatalf("%+v", h)
	}
	for _, hole := range h.Holes {
		a := followed(t, text, requestbar.Asked{Text: hole.Curl})
		if a.Problem != "" || a.Tone != "passes" {
			t.Errorf("%s: %+v", hole.Curl, a)
		}
		for _, s := range a.Steps {
			if s.Kind == "filter" && s.State == "answers" {
				t.Errorf("%s: %s %s", hole.Curl, s.Name, s.Says)
			}
			if s.Kind == "cluster" && s.Name != hole.Target {
				t.Errorf("%s goes to %s, not %s", hole.Curl, s.Name, hole.Target)
			}
		}
		for _, g := range hole.Guards {
			if g.Location == nil || g.Location.Start == nil {
				t.Errorf("%s: %s does not have a place", hole.Title, g.Says)
			}
		}
	}
	for _, example := range h.Examples {
		if a := followed(t, text, requestbar.Asked{Text: example}); a.Problem != "" || len(a.Steps) < 5 {
			t.Errorf("%s: %+v", example, a)
		}
	}
}

// TestFollowNeeds: the smaller engine cannot follow requests, and says what is needed.
func TestFollowNeeds(t *testing.T) {
	for _, operation := range []string{"follow", "holes"} {
		a := callOf[struct{ Error, Needs string }](t, &playground.Engine{}, operation, map[string]any{"files": files{"envoy.yaml": routes}})
		if a.Needs != "requests" || a.Error == "" {
			t.Errorf("%s: %+v", operation, a)
		}
	}
}

// TestFollowOdd: odd texts and requests have an answer or a reason.
func TestFollowOdd(t *testing.T) {
	good := textOf(t, "walk/edge.yaml")
	requests := []string{
		"GET http://shop.example.com/" + strings.Repeat("a/", 20_000), "GET http://shop.example.com/\x00\x01\x7f\u202e", "GET http://" + strings.Repeat("x.", 5000) + "/",
		"GET http://shop.example.com/\nx: \x00", strings.Repeat("x", 70_000), "\x1b[2J", "curl " + strings.Repeat("-H a:b ", 5000) + "a.test", "http://", "//", "?", "\u2028x",
	}
	for _, text := range []string{good, cluster, "", "{", "\x00", "- - -", `{"resources": [3]}`} {
		for _, request := range requests {
			raw, err := json.Marshal(map[string]any{"files": files{"envoy.yaml": text}, "asked": requestbar.Asked{Text: request, Source: request, SNI: request, ALPN: request}})
			if err != nil {
				t.Fatal(err)
			}
			var a struct{ Error, Problem, Title string }
			if out := larger.Call("follow", raw); json.Unmarshal(out, &a) != nil || a.Error+a.Problem+a.Title == "" || strings.ContainsAny(string(out), "\x1b\x00") {
				t.Errorf("%.60q: %.200s", request, out)
			}
		}
	}
	if a := callOf[struct{ Error string }](t, larger, "follow", map[string]any{"files": files{"envoy.yaml": good}, "asked": 3}); !strings.Contains(a.Error, "the request is malformed") {
		t.Errorf("%+v", a)
	}
}

// TestFollowAfterEdit: a request is followed through the texts as they are now.
func TestFollowAfterEdit(t *testing.T) {
	text := textOf(t, "walk/edge.yaml")
	for _, name := range []string{"cart", "trolley"} {
		edited := strings.Replace(text, "name: cart\n", "name: "+name+"\n", 1)
		a := followed(t, edited, requestbar.Asked{Text: "https://shop.example.com/cart"})
		if !slices.ContainsFunc(a.Steps, func(s requestbar.Step) bool { return s.Kind == "route" && strings.HasPrefix(s.Name, name) }) {
			t.Errorf("%s: %+v", name, a.Steps)
		}
	}
}
