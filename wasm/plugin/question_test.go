package plugin

import (
	"bytes"
	"context"
	"encoding/base64"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	_ "github.com/xdslint/xdslint/internal/decode/linked"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/internal/pluginabi"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/lint"
)

func loaded(t testing.TB, name, text string) []*graph.Snapshot {
	t.Helper()
	input, err := load.Paths(t.Context(), []string{"-"}, load.Options{StdinName: name, Stdin: strings.NewReader(text)})
	if err != nil {
		return nil // some examples are broken
	}
	return input.Snapshots
}

func asked(s *graph.Snapshot, types ...string) *question {
	wanted := map[string]bool{}
	for _, name := range types {
		wanted[name] = true
	}
	return newQuestion(wanted, []*lint.Pass{{Rule: &lint.Rule{Group: "acme", Name: "one"}, Snapshot: s, Config: lint.Config{Target: dataplane.Default()}}})
}

const shop = `static_resources:
  listeners:
  - name: public
    address: {socket_address: {address: 0.0.0.0, port_value: 8443}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: public
          route_config:
            name: public
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: {prefix: /}
                route: {cluster: shop-cart}
                request_headers_to_add:
                - header: {key: Authorization, value: Basic c3dvcmRmaXNo}
                - header: {key: x-team, value: shop}
                - header: {key: x-note, value: "see https://ops:swordfish@wiki.acme.example/"}
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
      transport_socket:
        name: envoy.transport_sockets.tls
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
          common_tls_context:
            tls_certificates:
            - certificate_chain: {filename: /etc/tls/tls.crt}
              private_key: {inline_string: "swordfish-key"}
              password: {inline_bytes: c3dvcmRmaXNo}
            - certificate_chain: {filename: /etc/tls/tls.crt}
              private_key: {filename: /etc/tls/tls.key}
  clusters:
  - name: shop-cart
    type: STATIC
    metadata: {filter_metadata: {acme: {password: swordfish, tier: gold, tokens: [{access_token: swordfish}]}}}
    transport_socket:
      name: envoy.transport_sockets.tls
      typed_config:
        "@type": type.googleapis.com/xds.type.v3.TypedStruct
        type_url: type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        value:
          sni: cart.acme.example
          common_tls_context:
            tls_certificates:
            - private_key: {inline_string: "swordfish-key"}
`

// TestQuestion: what a plugin is told of a snapshot, to the field.
func TestQuestion(t *testing.T) {
	s := loaded(t, "envoy.yaml", shop)[0]
	q := asked(s, "envoy.config.cluster.v3.Cluster", "envoy.config.core.v3.SocketAddress")
	want := &pluginabi.Snapshot{
		Target: dataplane.Default().String(), Rules: []string{"acme/one"},
		Resources: []*pluginabi.Resource{
			{Kind: "bootstrap", File: "envoy.yaml", Type: "envoy.config.bootstrap.v3.Bootstrap", Bootstrap: true},
			{Kind: "listener", Name: "public", File: "envoy.yaml", Type: "envoy.config.listener.v3.Listener", Bootstrap: true},
			{Kind: "cluster", Name: "shop-cart", File: "envoy.yaml", Type: "envoy.config.cluster.v3.Cluster", Bootstrap: true},
		},
		References: []*pluginabi.Reference{{
			From: 1, Path: "filter_chains[0].filters[0].typed_config.route_config.virtual_hosts[0].routes[0].route.cluster", Kind: "cluster", Name: "shop-cart", To: proto.Uint32(2),
		}},
		Messages: []*pluginabi.Message{
			{Resource: 1, Path: "address.socket_address", Type: "envoy.config.core.v3.SocketAddress"},
			{Resource: 2, Type: "envoy.config.cluster.v3.Cluster"},
		},
	}
	if diff := cmp.Diff(want, &q.Snapshot, protocmp.Transform(), protocmp.IgnoreFields(&pluginabi.Message{}, "value")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	address := &corev3.SocketAddress{}
	if err := proto.Unmarshal(q.Messages[0].GetValue(), address); err != nil || address.GetPortValue() != 8443 {
		t.Errorf("%v, %v", address, err)
	}
}

// TestSecretsStayHere: a plugin sees that there is a secret, and not which.
func TestSecretsStayHere(t *testing.T) {
	s := loaded(t, "envoy.yaml", shop)[0]
	q := asked(
		s, "envoy.config.cluster.v3.Cluster", "envoy.config.listener.v3.Listener", "envoy.config.bootstrap.v3.Bootstrap", "envoy.config.core.v3.HeaderValue", "envoy.config.core.v3.DataSource",
		"envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", "envoy.config.core.v3.Metadata",
		"xds.type.v3.TypedStruct", "google.protobuf.Any",
	)
	raw, err := wire.Marshal(&q.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"swordfish", "c3dvcmRmaXNo"} {
		if i := bytes.Index(raw, []byte(secret)); i >= 0 {
			t.Errorf("a plugin can read %q", raw[max(0, i-60):i+20])
		}
	}
	for _, visible := range []string{"/etc/tls/tls.key", "gold", "x-team", "cart.acme.example", "[redacted]"} {
		if !bytes.Contains(raw, []byte(visible)) {
			t.Errorf("a plugin cannot read %q", visible)
		}
	}
	for _, m := range q.Messages {
		if m.GetType() != "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext" {
			continue
		}
		tls := &tlsv3.DownstreamTlsContext{}
		if err := proto.Unmarshal(m.GetValue(), tls); err != nil {
			t.Fatal(err)
		}
		certificates := tls.GetCommonTlsContext().GetTlsCertificates()
		if certificates[0].GetPrivateKey().GetInlineString() == "" || len(certificates[0].GetPassword().GetInlineBytes()) == 0 || certificates[1].GetPrivateKey().GetFilename() == "" {
			t.Error(protojson.Format(tls))
		}
	}
}

// TestCopies: of all examples, the copies are the messages, except for secrets; the same question is asked each time.
func TestCopies(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/rules/*/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	copies, secrets := 0, 0
	for _, path := range paths {
		archive, err := explain.ReadArchive(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			for _, s := range loaded(t, filepath.Base(f.Name), string(f.Data)) {
				for _, r := range s.Resources {
					r.Walk(func(at *graph.Place) {
						if len(at.Message.GetUnknown()) > 0 {
							return
						}
						copied := redact.Place(at, contentsOf(r, s))
						copies++
						if proto.Equal(at.Message.Interface(), copied) {
							return
						}
						if text := protojson.Format(copied); !strings.Contains(text, "[redacted]") && !strings.Contains(text, redactedBytes) && !opaque(r, at) {
							t.Errorf("%s: %s: %s: copied as %s", path, f.Name, at.Path, text)
						}
						secrets++
					})
				}
				one, err := wire.Marshal(&asked(s, "envoy.config.cluster.v3.Cluster", "google.protobuf.Any").Snapshot)
				two, err2 := wire.Marshal(&asked(s, "envoy.config.cluster.v3.Cluster", "google.protobuf.Any").Snapshot)
				if err != nil || err2 != nil || !bytes.Equal(one, two) {
					t.Errorf("%s: %s: asked in two ways (%v, %v)", path, f.Name, err, err2)
				}
			}
		}
	}
	t.Logf("%d messages were copied, %d of them without a secret or something opaque that is in them", copies, secrets)
	if copies < 10_000 {
		t.Errorf("only %d messages were copied", copies)
	}
}

// redactedBytes is "[redacted]" in a field of bytes, as JSON.
var redactedBytes = base64.StdEncoding.EncodeToString([]byte("[redacted]"))

// opaque reports whether a message contains an Any that cannot be decoded.
func opaque(r *graph.Resource, at *graph.Place) (found bool) {
	r.Walk(func(inner *graph.Place) {
		_, below := inner.Path.TrimPrefix(at.Path)
		found = found || below && inner.Opaque
	})
	return found
}

// FuzzAnswer: any answer becomes findings, or one reason why the plugin cannot judge.
func FuzzAnswer(f *testing.F) {
	all := loaded(f, "envoy.yaml", shop)
	origin := &lint.Origin{Name: "plugin rules.wasm", File: all[0].Resources[0].File}
	p := &Plugin{rules: []*lint.Rule{{Group: "acme", Name: "one", Severity: lint.Error, Summary: "one", Origin: origin}}}
	for _, finding := range []*pluginabi.Finding{
		{Rule: "acme/one", Resource: 1, Path: "filter_chains[0].filters[0].typed_config.route_config.virtual_hosts[0].domains[0]", Message: "wrong", Notes: []string{"a", "b"}, Help: "help"},
		{Rule: "acme/one", Resource: 2, Path: `metadata.filter_metadata["acme"].fields["tier"]`, Message: "wrong", Severity: 1},
		{Rule: "acme/one", Resource: 2, Path: "transport_socket.typed_config.value.sni", Message: "wrong", Fixes: []*pluginabi.Fix{{Message: "fix", Edits: []*pluginabi.Edit{
			{Path: "type", Change: &pluginabi.Edit_Set{Set: `"EDS"`}}, {Path: "connect_timeout", Change: &pluginabi.Edit_Set{Set: `{"a": {"b": 1}}`}}, {Path: "metadata", Change: &pluginabi.Edit_Remove{Remove: true}},
		}}}},
	} {
		raw, err := proto.Marshal(&pluginabi.Findings{Findings: []*pluginabi.Finding{finding}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		rule := *p.rules[0]
		rule.Run = lint.ForOrigin(func() lint.Judge {
			return func(_ context.Context, passes []*lint.Pass) *lint.EvalError {
				return p.report(t.Context(), raw, newQuestion(nil, passes), passes)
			}
		})
		result := lint.Run(t.Context(), all, lint.Config{Rules: []*lint.Rule{&rule}})
		for _, failure := range result.Failures {
			t.Fatalf("%v\n%s", failure, failure.Stack)
		}
		for _, d := range result.Diagnostics {
			if d.Message == "" || strings.ContainsFunc(d.Message, func(c rune) bool { return c < ' ' }) {
				t.Errorf("a finding says %q", d.Message)
			}
		}
	})
}
