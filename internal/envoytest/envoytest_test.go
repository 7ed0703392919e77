package envoytest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// TestMain reports once that an Envoy is missing, so that not every test does.
func TestMain(m *testing.M) {
	if err := Missing(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	m.Run()
}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, ext string
		outcome         Outcome
		message         string // a part of it
	}{
		{"accept", "{}", ".yaml", Accept, ""},
		{"proto text", `admin { profile_path: "/dev/null" }`, ".pb_text", Accept, ""},
		{"syntax", "static_resources: [", ".yaml", Reject, "end of sequence"},
		{"field", "static_resources: {clusters: [{name: a, typ: STATIC}]}", ".yaml", Reject, "typ"},
		{"constraint", "static_resources: {clusters: [{connect_timeout: 1s}]}", ".yaml", Reject, "ClusterValidationError.Name"},
		{"crash", crashing, ".yaml", Crash, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v, err := ValidateText(testContext(t), c.text, c.ext)
			if err != nil {
				t.Fatal(err)
			}
			if v.Outcome != c.outcome || !strings.Contains(v.Message, c.message) {
				t.Errorf("got %v, want %s with %q", v, c.outcome, c.message)
			}
		})
	}
}

// crashing has upstream SDS over an ADS server that the bootstrap does not have: Envoy 1.40.0 ends with a signal.
const crashing = `
static_resources:
  clusters:
  - name: a
    transport_socket:
      name: envoy.transport_sockets.tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        common_tls_context:
          tls_certificate_sds_secret_configs: [{name: s, sds_config: {ads: {}, resource_api_version: V3}}]
`

func TestValidateGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ValidateText(ctx, "{}", ".yaml"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// Not parallel: it changes the working directory.
func TestWithoutEnvoyEverythingFails(t *testing.T) {
	t.Chdir(t.TempDir())
	_, validate := ValidateText(t.Context(), "{}", ".yaml")
	_, push := Push(t.Context(), nil)
	_, serve := Serve(t.Context(), "{}", ".yaml")
	for name, err := range map[string]error{"Validate": validate, "Push": push, "Serve": serve} {
		if !errors.Is(err, ErrNoEnvoy) || !strings.Contains(err.Error(), "make tools") {
			t.Errorf("%s: got %v, want %v", name, err, ErrNoEnvoy)
		}
	}
}

func TestPush(t *testing.T) {
	t.Parallel()
	badCluster := &clusterv3.Cluster{Name: "b", LbPolicy: clusterv3.Cluster_CLUSTER_PROVIDED}
	for _, c := range []struct {
		name      string
		resources Resources
		replies   map[string]string // what the detail of the NACK holds; empty: ACK
		unasked   int
	}{
		{
			"all types", pack(t, listener("l", "r"), routes("r", "a"), edsCluster("a"), endpoints("a")),
			map[string]string{Clusters: "", Endpoints: "", Listeners: "", Routes: ""},
			0,
		},
		{
			"one cluster refused, the other applied", pack(t, badCluster, edsCluster("a"), endpoints("a")),
			map[string]string{Clusters: "cluster provided LB specified", Endpoints: ""},
			0,
		},
		{
			"listener refused", pack(t, &listenerv3.Listener{Name: "l"}),
			map[string]string{Listeners: "address is necessary"},
			0,
		},
		{
			"routes refused", pack(t, listener("l", "r"), routes("r", "")),
			map[string]string{Listeners: "", Routes: "Cluster"},
			0,
		},
		{"nothing refers to it", pack(t, routes("r", "a"), endpoints("a")), nil, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Push(testContext(t), c.resources)
			if err != nil {
				t.Fatal(err)
			}
			if got.Crashed || len(got.Replies) != len(c.replies) || len(got.Unasked) != c.unasked {
				t.Errorf("got %+v, want %+v and %d unasked", got, c.replies, c.unasked)
			}
			for url, detail := range c.replies {
				if reply := got.Replies[url]; reply.Ack != (detail == "") || !strings.Contains(reply.Detail, detail) {
					t.Errorf("%s: got %+v, want detail %q", url, reply, detail)
				}
			}
			if (got.Nack() == "") != (strings.Join(values(c.replies), "") == "") {
				t.Errorf("Nack() is %q", got.Nack())
			}
		})
	}
}

func TestSubscribe(t *testing.T) {
	t.Parallel()
	secret := func(name string) *tlsv3.Secret { return &tlsv3.Secret{Name: name} }
	certificate, validation := secret("s"), secret("v")
	certificate.Type = &tlsv3.Secret_TlsCertificate{TlsCertificate: &tlsv3.TlsCertificate{}}
	validation.Type = &tlsv3.Secret_ValidationContext{ValidationContext: &tlsv3.CertificateValidationContext{}}
	given := pack(t, routes("r", "a"), endpoints("a"), certificate, validation)
	all, err := Subscribe(given)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Push(testContext(t), all)
	if err != nil || len(got.Unasked) != 0 || len(given) != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	for _, url := range []string{Clusters, Endpoints, Listeners, Routes} {
		if !got.Replies[url].Ack {
			t.Errorf("%s: %+v", url, got.Replies[url])
		}
	}
	if nack := got.Nack(); !strings.Contains(nack, "private key") {
		t.Errorf("an empty certificate is refused with %q", nack)
	}
}

// TestGist: random parts of Envoy's output are removed from messages, so that messages can be compared.
func TestGist(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"goo.gle/debugonly  name: \"a : b\"\n : Proto constraint validation failed (X.Y: z)": "Proto constraint validation failed (X.Y: z)",
		"Field 'weight' is missing in: goo.gle/debugstr name: \"a\"":                         "Field 'weight' is missing in: name: \"a\"",
	} {
		if got := gist(in); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPushSeesNothingOfTheFormerOne(t *testing.T) {
	t.Parallel()
	for range 2 { // the same names: a leftover would make the second run differ
		got, err := Push(testContext(t), pack(t, listener("l", "r"), routes("r", "gone")))
		if err != nil || got.Nack() != "" || len(got.Unasked) != 0 {
			t.Fatalf("got %+v, %v", got, err)
		}
	}
}

func TestPushThatCrashes(t *testing.T) {
	t.Parallel()
	ads, err := Start(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	defer ads.Close()
	ads.stop() // stands in for a crash while a push is under way
	got, err := ads.Push(testContext(t), pack(t, edsCluster("a")))
	if err != nil || !got.Crashed {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A route to a missing cluster is taken over RDS and answered with 503 NC, until the cluster comes: one Envoy, two pushes.
func TestStartThenPushTwice(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	backend, err := Serve(ctx, staticBootstrap, ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	ads, err := Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer ads.Close()
	if n := len(ads.Node().GetExtensions()); n < 300 {
		t.Errorf("node names %d extensions", n)
	}

	push := func(messages ...proto.Message) {
		t.Helper()
		got, err := ads.Push(ctx, pack(t, messages...))
		if err != nil || got.Nack() != "" || len(got.Unasked) != 0 {
			t.Fatalf("got %+v, %v", got, err)
		}
	}
	front := []proto.Message{listener("l", "r"), routes("r", "a")}
	push(front...)
	if status, flags := get(t, ctx, ads.Envoy, "l"); status != 503 || flags != "NC" {
		t.Errorf("without the cluster: %d %s", status, flags)
	}
	addr, err := backend.Addr(ctx, "direct")
	if err != nil {
		t.Fatal(err)
	}
	push(append(front, edsCluster("a"), endpointsAt("a", addr))...)
	if status, flags := get(t, ctx, ads.Envoy, "l"); status != 200 || flags != "-" {
		t.Errorf("with the cluster: %d %s", status, flags)
	}
}

func TestServeRefusesABrokenBootstrap(t *testing.T) {
	t.Parallel()
	_, err := Serve(testContext(t), "static_resources: {clusters: [{connect_timeout: 1s}]}", ".yaml")
	if err == nil || !strings.Contains(err.Error(), "ClusterValidationError.Name") {
		t.Errorf("got %v", err)
	}
}

func TestServeUsesItsOwnAdminPort(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	e, err := Serve(ctx, "admin: {address: {socket_address: {address: 127.0.0.1, port_value: 1}}}", ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Admin(ctx, "/server_info"); err != nil {
		t.Error(err)
	}
}

const staticBootstrap = `
static_resources:
  listeners:
  - name: direct
    address: {socket_address: {address: 127.0.0.1, port_value: 0}}
    filter_chains:
    - filters:
      - name: hcm
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: s
          http_filters:
          - {name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}
          route_config:
            virtual_hosts: [{name: v, domains: ["*"], routes: [{match: {prefix: /}, direct_response: {status: 200}}]}]
`

// get sends a request through a listener of e; the flags are those of the route below.
func get(t *testing.T, ctx context.Context, e *Envoy, listener string) (status int, flags string) {
	t.Helper()
	addr, err := e.Addr(ctx, listener)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode, response.Header.Get("x-flags")
}

func listener(name, routes string) *listenerv3.Listener {
	return parse(&listenerv3.Listener{}, rdsStub, name, routes)
}

func routes(name, cluster string) *routev3.RouteConfiguration {
	return parse(&routev3.RouteConfiguration{}, `{
		"name": %q, "responseHeadersToAdd": [{"header": {"key": "x-flags", "value": "%%RESPONSE_FLAGS%%"}}],
		"virtualHosts": [{"name": "v", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": %q}}]}]}`, name, cluster)
}

func edsCluster(name string) *clusterv3.Cluster {
	return parse(&clusterv3.Cluster{}, edsStub, name, name)
}

func endpoints(cluster string) *endpointv3.ClusterLoadAssignment {
	return &endpointv3.ClusterLoadAssignment{ClusterName: cluster}
}

func endpointsAt(cluster, addr string) *endpointv3.ClusterLoadAssignment {
	host, port, _ := strings.Cut(addr, ":")
	return parse(&endpointv3.ClusterLoadAssignment{}, `{"clusterName": %q, "endpoints": [{"lbEndpoints": [{"endpoint":
		{"address": {"socketAddress": {"address": %q, "portValue": %s}}}}]}]}`, cluster, host, port)
}

func parse[M proto.Message](m M, format string, args ...any) M {
	if err := protojson.Unmarshal(fmt.Appendf(nil, format, args...), m); err != nil {
		panic(err)
	}
	return m
}

func pack(t *testing.T, messages ...proto.Message) Resources {
	t.Helper()
	r, err := Pack(messages...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func values(m map[string]string) (all []string) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}
