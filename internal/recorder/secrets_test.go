package recorder_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	statusv3 "google.golang.org/genproto/googleapis/rpc/status"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/reference"
)

// canary is in every secret below.
const canary = "hunter2"

func inline(text string) *corev3.DataSource {
	return &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: text}}
}

// secretive are the resources of a server that sends secrets.
func secretive(t *testing.T) (all []*anypb.Any) {
	t.Helper()
	for _, m := range []proto.Message{
		&tlsv3.Secret{Name: "a", Type: &tlsv3.Secret_TlsCertificate{TlsCertificate: &tlsv3.TlsCertificate{PrivateKey: inline(canary), Password: inline(canary)}}},
		&tlsv3.Secret{Name: "b", Type: &tlsv3.Secret_GenericSecret{GenericSecret: &tlsv3.GenericSecret{Secret: inline(canary)}}},
		&tlsv3.Secret{Name: "c", Type: &tlsv3.Secret_SessionTicketKeys{SessionTicketKeys: &tlsv3.TlsSessionTicketKeys{Keys: []*corev3.DataSource{inline(canary)}}}},
		&routev3.RouteConfiguration{Name: "d", RequestHeadersToAdd: []*corev3.HeaderValueOption{
			{Header: &corev3.HeaderValue{Key: "authorization", Value: canary}},
			{Header: &corev3.HeaderValue{Key: "cookie", Value: canary}},
			{Header: &corev3.HeaderValue{Key: "x-api-token", Value: canary}},
		}},
		&corev3.TypedExtensionConfig{Name: "e", TypedConfig: &anypb.Any{TypeUrl: "type.googleapis.com/acme.Thing", Value: []byte(canary)}},
	} {
		body, err := anypb.New(m)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, body)
	}
	return append(all, &anypb.Any{TypeUrl: "type.googleapis.com/acme.Thing", Value: []byte(canary)})
}

// TestNoSecretIsRecorded: SotW and Delta, REST, headers, nodes, errors, the ends of streams, and contents of unknown types.
func TestNoSecretIsRecorded(t *testing.T) {
	all := secretive(t)
	var delta []*discoveryv3.Resource
	for _, body := range all {
		delta = append(delta, &discoveryv3.Resource{Name: "x", Version: "1", Resource: body})
	}
	server := serve(t, func(st grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(st)
		var q, p proto.Message = &discoveryv3.DiscoveryRequest{}, &discoveryv3.DiscoveryResponse{TypeUrl: secretType, VersionInfo: "1", Nonce: "1", Resources: all}
		if strings.Contains(method, "Delta") {
			q, p = &discoveryv3.DeltaDiscoveryRequest{}, &discoveryv3.DeltaDiscoveryResponse{TypeUrl: secretType, Nonce: "1", Resources: delta}
		}
		for range 2 {
			if err := st.RecvMsg(q); err != nil {
				return err
			}
			if err := st.SendMsg(p); err != nil {
				return err
			}
		}
		st.SetTrailer(metadata.Pairs("x-token", canary))
		return status.Error(codes.PermissionDenied, `authorization { value: "`+canary+`" }`)
	})
	proxy, out, path, addr := record(t, server)
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	node := &corev3.Node{Id: "edge-1", Metadata: &structpb.Struct{Fields: map[string]*structpb.Value{
		"password": structpb.NewStringValue(canary), "api-token": structpb.NewStringValue(canary), "AUTHORIZATION": structpb.NewStringValue("Bearer " + canary + "0123456789"),
		"nested": structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"client_secret": structpb.NewStringValue(canary)}}),
	}}}
	reason := &statusv3.Status{Message: `name: "a" inline_string: "` + canary + `"`, Details: []*anypb.Any{{TypeUrl: "type.googleapis.com/acme.Thing", Value: []byte(canary)}}}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+canary, "cookie", "session="+canary, "x-acme-token", canary)
	client := discoveryv3.NewAggregatedDiscoveryServiceClient(conn)
	sotw, err := client.StreamAggregatedResources(ctx)
	if err != nil {
		t.Fatal(err)
	}
	incremental, err := client.DeltaAggregatedResources(ctx)
	if err != nil {
		t.Fatal(err)
	}
	drain(t, sotw, &discoveryv3.DiscoveryRequest{Node: node, TypeUrl: secretType}, &discoveryv3.DiscoveryRequest{TypeUrl: secretType, ResponseNonce: "1", ErrorDetail: reason})
	drain(t, incremental, &discoveryv3.DeltaDiscoveryRequest{Node: node, TypeUrl: secretType}, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: secretType, ResponseNonce: "1", ErrorDetail: reason})
	proxy.Stop()
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	hides(t, path, `"name":"a"`, `name: \"a\" inline_string: \"[redacted]\"`, `"error_detail"`, `PermissionDenied`, `"left_out":[4,5]`)
}

// drain sends requests and reads their responses, until the stream ends.
func drain[Q, P any](t *testing.T, st grpc.BidiStreamingClient[Q, P], all ...*Q) {
	t.Helper()
	for _, q := range all {
		if err := st.Send(q); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.Recv(); status.Code(err) != codes.PermissionDenied {
		t.Fatalf("the stream ends with %v", err)
	}
}

const secretType = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret"

// hides checks that a recording has some texts, and no canary.
func hides(t *testing.T, path string, texts ...string) {
	t.Helper()
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.Index(recorded, []byte(canary)); i >= 0 {
		t.Errorf("a secret is recorded: %s", recorded[max(0, i-200):i+len(canary)])
	}
	for _, text := range texts {
		if !bytes.Contains(recorded, []byte(text)) {
			t.Errorf("the recording lacks %s:\n%s", text, recorded)
		}
	}
}

// TestNoSecretIsPolled does it for REST.
func TestNoSecretIsPolled(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	upstream := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Set-Cookie", "session="+canary)
		_, _ = io.WriteString(w, `{"version_info": "1", "resources": [{"@type": "`+secretType+`", "name": "a", "generic_secret": {"secret": {"inline_string": "`+canary+`"}}},
			{"@type": "`+secretType+`", "name": "b", "tls_certificate": {"unknown_field": "`+canary+`"}}]}`) // the client reports it
	})}
	go func() { _ = upstream.Serve(l) }() // until Close
	defer upstream.Close()
	proxy, out, path, addr := record(t, l.Addr().String())
	body := `{"node": {"id": "edge-1", "metadata": {"password": "` + canary + `"}}, "error_detail": {"message": "value: \"` + canary + `\""}}`
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/v3/discovery:secrets?token="+canary, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+canary)
	p, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Body.Close()
	proxy.Stop()
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	hides(t, path, `"name":"a"`, `"error_detail"`, `/v3/discovery:secrets`)
}

// TestQuoted: Envoy rejects a message with a text of all of it.
func TestQuoted(t *testing.T) {
	envoytest.Need(t)
	for _, delta := range []bool{false, true} {
		w := newWorld(t)
		streams := envoytest.Streams{Delta: delta}
		w.store.Set("shop", cluster(t, streams.Source(), "shop", "1s"))
		w.store.Set("shop", assignment(t, "shop", "8080"))
		w.store.Set("web", listener(t, streams.Source()))
		w.store.Set("web", routes(t, "*"))
		envoy, err := envoytest.Serve(w.ctx, streams.Bootstrap(w.addr), ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		bad := routes(t, "*")
		bad.RequestHeadersToAdd = []*corev3.HeaderValueOption{
			{Header: &corev3.HeaderValue{Key: "authorization", Value: canary}}, {Header: &corev3.HeaderValue{Value: "without a key"}},
		}
		w.answered(reference.Routes, func() { w.store.Set("web", bad) })
		envoy.Close()
		w.end()
		hides(t, w.path, `"error_detail"`, `name: \"web\"`, `HeaderValueValidationError.Key`)
	}
}
