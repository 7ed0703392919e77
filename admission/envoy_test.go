package admission_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/plan/apply"
)

// live is a gate with a server and an Envoy.
type live struct {
	*trial
	envoy   *envoytest.Envoy
	tracker *apply.Tracker
}

// envoy is the node that envoytest starts.
const envoy = "n"

// serve starts a server that has a gate for its cache, and an Envoy (SotW over ADS) that has these resources.
func serve(t *testing.T, l *live, first ...types.Resource) *live {
	t.Helper()
	if testing.Short() {
		t.Skip("starts Envoy")
	}
	envoytest.Need(t)
	if err := l.push("v0", first...); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	server, ended := grpc.NewServer(), make(chan struct{})
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(server, serverv3.NewServer(ctx, l, l.tracker))
	go func() { defer close(ended); _ = server.Serve(socket) }()
	t.Cleanup(func() { stop(); server.Stop(); <-ended; http.DefaultClient.CloseIdleConnections() })
	port := socket.Addr().(*net.TCPAddr).Port
	l.envoy, err = envoytest.Serve(t.Context(), strings.Replace(bootText, "port_value: 18000", fmt.Sprint("port_value: ", port), 1), ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.envoy.Close)
	return l
}

func (l *live) push(version string, all ...types.Resource) error {
	return l.SetSnapshot(l.t.Context(), envoy, snapshot(l.t, version, all...))
}

// shows waits until a page of the admin interface has a text.
func (l *live) shows(page, text string) { l.t.Helper(); l.until(page, text, true) }

// hides waits until it does not have it any more.
func (l *live) hides(page, text string) { l.t.Helper(); l.until(page, text, false) }

func (l *live) until(page, text string, there bool) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		body, err := l.envoy.Admin(ctx, page)
		if err == nil && strings.Contains(string(body), text) == there {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			l.t.Fatalf("%s, wanted %q to be there: %t (%v): %s\n%s", page, text, there, err, body, l.envoy.Log())
		}
	}
}

// TestEnvoyGetsEndpoints: Envoy gets the endpoints that it requests, though the snapshots have others, and also after such a snapshot.
func TestEnvoyGetsEndpoints(t *testing.T) {
	base := []types.Resource{listener("web", 0, "public"), table("public", "shop"), eds("shop")}
	l := serve(t, &live{try(t, nil), nil, apply.NewTracker()}, append(base, endpoints("shop", 1000))...)
	for i, extra := range [][]types.Resource{
		nil,
		{endpoints("stray", 80)},
		nil,
		{endpoints("stray", 80), endpoints("other", 80)},
		{endpoints("stray", 80), endpoints("other", 80)},
	} {
		port := uint32(1001 + i)
		if err := l.push(fmt.Sprint("v", i+1), slices.Concat(base, extra, []types.Resource{endpoints("shop", port)})...); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		l.shows("/clusters", fmt.Sprintf("10.0.0.1:%d::", port))
		t.Logf("%d of the snapshot's endpoints are not requested: Envoy has the others after %s", len(extra), time.Since(began))
	}
}

// TestEnvoyRejects: what no rule finds and Envoy rejects is withheld, and the rest of the push arrives.
func TestEnvoyRejects(t *testing.T) {
	l := &live{tracker: apply.NewTracker()}
	l.trial = try(t, func(o *admission.Options) {
		o.Push = func(ctx context.Context, node string, s cachev3.ResourceSnapshot) error {
			return apply.Run(ctx, l.cache, node, nil, s, apply.Options{Tracker: l.tracker})
		}
	})
	web := []types.Resource{listener("web", 0, "public"), table("public", "shop"), eds("shop")}
	serve(t, l, append(web, endpoints("shop", 1000))...)
	certificate, key := envoytest.KeyPair(t, "shop.example.com")
	_, other := envoytest.KeyPair(t, "shop.example.com")
	for i, next := range []struct {
		key      []byte
		withheld []string
	}{
		{other, []string{"listener safe", "secret pair"}},
		{key, nil},
	} {
		port := uint32(1001 + i)
		began := time.Now()
		if err := l.push(fmt.Sprint("v", i+1), append(web, endpoints("shop", port), secure(listener("safe", 0, "public")), secret(certificate, next.key))...); err != nil {
			t.Fatal(err)
		}
		last := l.decisions[len(l.decisions)-1]
		var got []string
		for _, w := range last.Withheld {
			got = append(got, string(w.Kind)+" "+w.Name)
			t.Log(w)
		}
		if slices.Sort(got); !slices.Equal(got, next.withheld) {
			t.Errorf("%s: withheld %v, want %v", last.Outcome, got, next.withheld)
		}
		l.shows("/clusters", fmt.Sprintf("10.0.0.1:%d::", port))
		t.Logf("%s, %d decisions so far; Envoy has the rest after %s", last.Outcome, len(l.decisions), time.Since(began))
		if next.withheld != nil { // as long as the rejected listener drains, Envoy rejects another one for the old key
			l.hides("/config_dump", `"safe"`)
		}
	}
	l.shows("/listeners", "safe::")
}

func secret(certificate, key []byte) *tlsv3.Secret {
	inline := func(text []byte) *corev3.DataSource {
		return &corev3.DataSource{Specifier: &corev3.DataSource_InlineBytes{InlineBytes: text}}
	}
	return &tlsv3.Secret{Name: "pair", Type: &tlsv3.Secret_TlsCertificate{TlsCertificate: &tlsv3.TlsCertificate{
		CertificateChain: inline(certificate), PrivateKey: inline(key),
	}}}
}

// secure is a listener with TLS, whose certificate is the secret "pair".
func secure(l *listenerv3.Listener) *listenerv3.Listener {
	l.FilterChains[0].TransportSocket = &corev3.TransportSocket{Name: "tls", ConfigType: &corev3.TransportSocket_TypedConfig{
		TypedConfig: packed(&tlsv3.DownstreamTlsContext{CommonTlsContext: &tlsv3.CommonTlsContext{
			TlsCertificateSdsSecretConfigs: []*tlsv3.SdsSecretConfig{{Name: "pair", SdsConfig: ads}},
		}}),
	}}
	return l
}
