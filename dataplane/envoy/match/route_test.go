package match_test

import (
	"fmt"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	uritemplatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/path/match/uri_template/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

func parsed(text string) *routev3.RouteMatch {
	m := &routev3.RouteMatch{}
	must(protojson.Unmarshal([]byte(text), m))
	return m
}

func TestRoutes(t *testing.T) {
	const (
		root, api = `{"prefix": "/"}`, `{"prefix": "/api"}`
		connect   = `{"connectMatcher": {}}`
		yes       = `{"prefix": "/", "headers": [{"name": "x", "stringMatch": {"exact": "yes"}}]}`
		both      = `{"prefix": "/", "headers": [{"name": "X", "stringMatch": {"exact": "yes"}}, {"name": "y"}]}`
		half      = `{"prefix": "/", "runtimeFraction": {"runtimeKey": "k", "defaultValue": {"numerator": 50}}}`
		third     = `{"prefix": "/", "runtimeFraction": {"runtimeKey": "k", "defaultValue": {"numerator": 33}}}`
		whole     = `{"prefix": "/", "runtimeFraction": {"runtimeKey": "k", "defaultValue": {"numerator": 100}}}`
		metadata  = `{"prefix": "/", "dynamicMetadata": [{"filter": "f", "path": [{"key": "k"}], "value": {"boolMatch": true}}]}`
		custom    = `{"prefix": "/", "headers": [{"name": "x", "stringMatch": {"custom": {"name": "c"}}}]}`
		regex     = `{"safeRegex": {"regex": "/api/[a-z]+"}}`
	)
	for _, test := range []struct {
		first, second string
		shadows       bool
		meets         match.Overlap
	}{
		{root, api, true, match.Yes},
		{api, root, false, match.Yes},
		{root, root, true, match.Yes},
		{`{"prefix": ""}`, root, true, match.Yes},
		{root, `{"prefix": ""}`, true, match.Yes},
		{root, connect, false, match.Perhaps},
		{connect, root, false, match.Perhaps},
		{connect, connect, true, match.Yes},
		{api, `{"path": "/api"}`, true, match.Yes},
		{api, `{"path": "/ap"}`, false, match.No},
		{api, `{"path": "/API"}`, false, match.No},
		{`{"prefix": "/API", "caseSensitive": false}`, api, true, match.Yes},
		{api, `{"prefix": "/API", "caseSensitive": false}`, false, match.Yes},
		{`{"prefix": "/1"}`, `{"prefix": "/1/2", "caseSensitive": false}`, true, match.Yes},
		{`{"pathSeparatedPrefix": "/api"}`, `{"path": "/api"}`, true, match.Yes},
		{`{"pathSeparatedPrefix": "/api"}`, `{"prefix": "/api/"}`, true, match.Yes},
		{`{"pathSeparatedPrefix": "/api"}`, api, false, match.Yes},
		{`{"pathSeparatedPrefix": "/api"}`, `{"pathSeparatedPrefix": "/api/v1"}`, true, match.Yes},
		{`{"pathSeparatedPrefix": "/api"}`, `{"prefix": "/apis"}`, false, match.No},
		{root, regex, true, match.Perhaps},
		{api, regex, true, match.Perhaps},
		{`{"prefix": "/other"}`, regex, false, match.No},
		{regex, `{"path": "/api/x"}`, true, match.Yes},
		{regex, `{"path": "/api/X"}`, false, match.No},
		{regex, regex, true, match.Perhaps},
		{`{"safeRegex": {"regex": ".*"}}`, root, true, match.Yes},
		{`{"safeRegex": {"regex": "^/api/(.*)$"}}`, `{"prefix": "/api/x"}`, true, match.Yes},
		{`{"safeRegex": {"regex": "/a|/b"}}`, `{"prefix": "/a"}`, false, match.Perhaps},
		{api, `{"safeRegex": {"regex": "(?i)/api/x"}}`, false, match.Perhaps},
		{root, yes, true, match.Yes},
		{yes, root, false, match.Yes},
		{yes, both, true, match.Yes},
		{both, yes, false, match.Yes},
		{yes, `{"prefix": "/", "headers": [{"name": "x", "stringMatch": {"exact": "no"}}]}`, false, match.No},
		{`{"prefix": "/", "headers": [{"name": "x"}]}`, yes, true, match.Yes},
		{`{"prefix": "/", "headers": [{"name": "x", "stringMatch": {"exact": "no"}, "invertMatch": true}]}`, yes, true, match.Yes},
		{`{"prefix": "/", "headers": [{"name": "x", "presentMatch": true, "invertMatch": true}]}`, yes, false, match.No},
		{`{"prefix": "/", "headers": [{"name": "content-type", "stringMatch": {"prefix": "application/"}}]}`, `{"prefix": "/", "grpc": {}}`, true, match.Yes},
		{`{"prefix": "/", "headers": [{"name": ":method", "stringMatch": {"exact": "GET"}}]}`, `{"prefix": "/", "headers": [{"name": ":method", "stringMatch": {"exact": "POST"}}]}`, false, match.No},
		{`{"prefix": "/", "headers": [{"name": ":path", "stringMatch": {"exact": "/b"}}]}`, `{"prefix": "/a"}`, false, match.Perhaps},
		{custom, custom, false, match.Perhaps},
		{root, custom, true, match.Perhaps},
		{half, root, false, match.Perhaps},
		{whole, root, false, match.Perhaps},
		{root, half, true, match.Perhaps},
		{half, half, true, match.Perhaps},
		{half, third, true, match.Perhaps},
		{third, half, false, match.Perhaps},
		{metadata, metadata, true, match.Perhaps},
		{metadata, root, false, match.Perhaps},
		{root, `{"prefix": "/a?b"}`, false, match.No}, // it never matches by itself
		{root, `{}`, true, match.Perhaps},
		{`{}`, root, false, match.Perhaps},
	} {
		a, b := normal(parsed(test.first)), normal(parsed(test.second))
		if got := a.Shadows(b); got != test.shadows {
			t.Errorf("%s shadows %s: %t", test.first, test.second, got)
		}
		if got := a.Meets(b); got != test.meets {
			t.Errorf("%s meets %s: %s", test.first, test.second, got)
		}
	}
}

func TestTemplates(t *testing.T) {
	template := func(path string) *match.Route {
		config := &anypb.Any{TypeUrl: "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig"}
		m := &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_PathMatchPolicy{PathMatchPolicy: &corev3.TypedExtensionConfig{TypedConfig: config}}}
		return match.NewRoute(&routev3.Route{Match: m}, func(a *anypb.Any) proto.Message {
			if a != config || path == "" {
				return nil
			}
			return &uritemplatev3.UriTemplateMatchConfig{PathTemplate: path}
		})
	}
	api := normal(parsed(`{"prefix": "/api/"}`))
	for path, want := range map[string]bool{"/api/{name}": true, "/api/*": true, "/{name}/x": false, "/api/x;y/*": true, "": false} {
		if got := api.Shadows(template(path)); got != want {
			t.Errorf("/api/ shadows %q: %t", path, got)
		}
	}
	if !template("/api/{name}").Shadows(template("/api/{name}")) || template("").Shadows(template("")) {
		t.Error("a template shadows what is equal, unless it is not known")
	}
	if got := template("/other/*").Meets(api); got != match.No {
		t.Errorf("another template meets it: %s", got)
	}
}

// A plugin can decline, and the next route gets the request.
func TestPluginsDecline(t *testing.T) {
	r := &routev3.Route{Match: parsed(`{"prefix": "/"}`), Action: &routev3.Route_Route{Route: &routev3.RouteAction{
		ClusterSpecifier: &routev3.RouteAction_ClusterSpecifierPlugin{ClusterSpecifierPlugin: "p"},
	}}}
	if one, api := match.NewRoute(r, nil), normal(parsed(`{"prefix": "/api"}`)); one.Shadows(api) || !one.Covers(api) {
		t.Error("a route with a plugin covers /api, and shadows nothing")
	}
}

// Thousands of routes are not compared pair by pair.
func BenchmarkRoutes(b *testing.B) {
	all := make([]*routev3.RouteMatch, 0, 10_000)
	for i := range cap(all) {
		all = append(all, parsed(fmt.Sprintf(`{"prefix": "/service-%d/"}`, i)))
	}
	for b.Loop() {
		var routes match.Routes
		for _, m := range all {
			if by := routes.Add(normal(m)); by >= 0 {
				b.Fatal(by)
			}
		}
	}
}

// A CONNECT request of HTTP/1 has no path, and so it is not gRPC.
func TestGRPCWithoutPath(t *testing.T) {
	grpc := normal(parsed(`{"connectMatcher": {}, "grpc": {}}`))
	kind := normal(parsed(`{"connectMatcher": {}, "headers": [{"name": "content-type", "stringMatch": {"exact": "application/grpc"}}]}`))
	if grpc.Shadows(kind) || !kind.Shadows(normal(parsed(`{"connectMatcher": {}, "headers": [{"name": "content-type", "stringMatch": {"exact": "application/grpc"}}]}`))) {
		t.Error("only the header decides")
	}
}
