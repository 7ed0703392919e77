package transitions

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"testing"
	"time"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		want   string
	}{
		{200, "ok", ""},
		{404, "ok", "404"},
		{503, "F=NC cluster_not_found", "503 NC"},
		{403, "F=UAEX ext_authz_error", "403 UAEX"},
		{404, "F=- direct_response", ""},
		{301, "F=- direct_response", ""},
	} {
		if got := judge(c.status, c.body); got != c.want {
			t.Errorf("%d %q: %q, want %q", c.status, c.body, got, c.want)
		}
	}
}

// TestHalvesKeepWhatIsAlike: equal parts of two snapshots must stay equal, or a push would change more than the files
// say.
func TestHalvesKeepWhatIsAlike(t *testing.T) {
	t.Parallel()
	c, err := readCase(t.Context(), "../../testdata/transitions/secrets-rotated")
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlace(lint.ADSSotW)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	before, after, err := p.halves(c, lint.PerType)
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for i, m := range before.messages {
		if proto.Equal(m, after.messages[i]) {
			continue
		}
		changed++
		if _, ok := m.(*tlsv3.Secret); !ok {
			t.Errorf("%s differs: %v\n%v", typeURL(m), m, after.messages[i])
		}
	}
	if changed != 3 {
		t.Errorf("%d secrets changed, want 3", changed)
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]ask{
		"cluster-renamed": {{host: "shop.example.com", path: "/"}, {host: "api.example.com", path: "/v1"}},
		"scope-switched": {
			{host: "any.example", path: "/", header: "x-tenant", key: "acme", any: true},
			{host: "any.example", path: "/", header: "x-tenant", key: "globex", any: true},
		},
		"virtual-host-added": {{host: "api.example.com", path: "/"}, {host: "shop.example.com", path: "/"}},
		"tcp-proxy-switched": {{host: "any.example", path: "/", any: true}},
	} {
		c, err := readCase(t.Context(), "../../testdata/transitions/"+name)
		if err != nil {
			t.Fatal(err)
		}
		got := map[ask]bool{}
		for _, target := range targets(asIs(c.Old), asIs(c.New), false) {
			for _, a := range target.asks {
				got[a] = true
			}
		}
		wanted := map[ask]bool{}
		for _, a := range want {
			wanted[a] = true
		}
		if !reflect.DeepEqual(got, wanted) {
			t.Errorf("%s: got %v, want %v", name, got, wanted)
		}
	}
}

// asIs is a half that has not been moved.
func asIs(s *graph.Snapshot) *half {
	h := &half{}
	for _, r := range s.Resources {
		h.messages = append(h.messages, r.Message)
	}
	return h
}

func TestUpstreamSpeaksPlainTextAndTLS(t *testing.T) {
	t.Parallel()
	a, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := a.pair("upstream")
	if err != nil {
		t.Fatal(err)
	}
	u, err := startUpstream("", certificate, speech{plain: true, tls: true}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer u.close()
	roots := x509.NewCertPool()
	roots.AddCert(a.certificate)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost"}}
	defer transport.CloseIdleConnections()
	for _, scheme := range []string{"http", "https"} {
		response, err := (&http.Client{Transport: transport}).Get(fmt.Sprintf("%s://127.0.0.1:%d/", scheme, u.port))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK || string(body) != "ok" {
			t.Errorf("%s: %s %q %v", scheme, response.Status, body, err)
		}
	}
}

func TestProxyDelaysBothWays(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			defer conn.Close()
			_, _ = io.Copy(conn, conn)
		}
	}()
	const delay = 40 * time.Millisecond
	p, err := startProxy(l.Addr().String(), delay)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", p.port()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	began := time.Now()
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 2*delay {
		t.Errorf("there and back took %s, want %s at least", took, 2*delay)
	}
}
