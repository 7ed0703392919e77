package recording_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/recorder"
	"github.com/xdslint/xdslint/internal/recording"
	"github.com/xdslint/xdslint/internal/source"
)

const (
	ads       = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"
	endpoints = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
)

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func pack(t testing.TB, m proto.Message) *anypb.Any {
	t.Helper()
	body, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// record writes a stream with n responses, each of which is ACKed, in parts of a size. It returns the parts.
func record(t testing.TB, n int, size int64, response func(i int) *discoveryv3.DiscoveryResponse) (parts []*source.File) {
	t.Helper()
	folder := t.TempDir()
	w, err := recorder.Create(filepath.Join(folder, "xds.jsonl"), size)
	if err != nil {
		t.Fatal(err)
	}
	s := w.Open(ads)
	q := &discoveryv3.DiscoveryRequest{Node: &corev3.Node{Id: "edge-1"}, TypeUrl: endpoints, ResourceNames: []string{"*"}}
	s.Request(marshal(t, q))
	for i := range n {
		p := response(i)
		p.TypeUrl, p.VersionInfo, p.Nonce = endpoints, fmt.Sprint(i), fmt.Sprint(i)
		s.Response(marshal(t, p))
		s.Request(marshal(t, &discoveryv3.DiscoveryRequest{TypeUrl: endpoints, ResourceNames: []string{"*"}, VersionInfo: p.VersionInfo, ResponseNonce: p.Nonce}))
	}
	s.Close("OK", "")
	s.Request(marshal(t, q)) // too late: nothing is written
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, &source.File{Name: filepath.Base(name), Text: text})
	}
	return parts
}

func assignment(name string, weight uint32) *endpointv3.ClusterLoadAssignment {
	return &endpointv3.ClusterLoadAssignment{ClusterName: name, Policy: &endpointv3.ClusterLoadAssignment_Policy{
		DropOverloads: []*endpointv3.ClusterLoadAssignment_Policy_DropOverload{{Category: fmt.Sprint("c", weight)}},
	}}
}

func one(t testing.TB) func(i int) *discoveryv3.DiscoveryResponse {
	return func(i int) *discoveryv3.DiscoveryResponse {
		return &discoveryv3.DiscoveryResponse{Resources: []*anypb.Any{pack(t, assignment("shop", uint32(i)))}}
	}
}

func judge(t testing.TB, parts ...*source.File) *protocol.Checker {
	t.Helper()
	c := protocol.NewChecker()
	if err := recording.Judge(t.Context(), parts, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestParts: parts are judged as one recording, in any order. Without the first, the stream is not judged.
func TestParts(t *testing.T) {
	parts := record(t, 50, 1000, one(t))
	if len(parts) < 5 {
		t.Fatalf("%d parts", len(parts))
	}
	slices.Reverse(parts)
	if c := judge(t, parts...); len(c.Findings()) > 0 || c.Unjudged() > 0 {
		t.Errorf("%d findings, %d streams are not judged", len(c.Findings()), c.Unjudged())
	}
	parts = slices.DeleteFunc(parts, func(f *source.File) bool { return f.Name == "xds.jsonl" })
	if c := judge(t, parts...); len(c.Findings()) > 0 || c.Unjudged() != 1 {
		t.Errorf("without the first part: %d findings, %d streams are not judged", len(c.Findings()), c.Unjudged())
	}
}

// TestKilled: a recording that ends anywhere behind its first line can be read, and nothing is found in it.
func TestKilled(t *testing.T) {
	text := record(t, 3, recorder.PartSize, one(t))[0].Text
	for end := bytes.IndexByte(text, '\n') + 1; end <= len(text); end++ {
		if found := judge(t, &source.File{Name: "xds.jsonl", Text: text[:end]}).Findings(); len(found) > 0 {
			t.Fatalf("%d bytes: %s", end, found[0].Message)
		}
	}
}

// TestSecrets: a recording has no secret, and a resource with one is not compared: both responses look the same.
func TestSecrets(t *testing.T) {
	parts := record(t, 2, recorder.PartSize, func(i int) *discoveryv3.DiscoveryResponse {
		key := &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: fmt.Sprint("hunter2-", i)}}
		return &discoveryv3.DiscoveryResponse{Resources: []*anypb.Any{pack(t, &tlsv3.Secret{
			Name: "shop", Type: &tlsv3.Secret_TlsCertificate{TlsCertificate: &tlsv3.TlsCertificate{PrivateKey: key}},
		})}}
	})
	if bytes.Contains(parts[0].Text, []byte("hunter2")) {
		t.Errorf("a secret is recorded:\n%s", parts[0].Text)
	}
	for _, f := range judge(t, parts...).Findings() {
		if f.Clause.Name != "resource-type-differs" && f.Clause.Name != "resource-type-accepted" {
			t.Errorf("%s: %s", f.Clause.Name, f.Message)
		}
	}
}

// TestUnknown: a resource of an unknown type is recorded by its type.
func TestUnknown(t *testing.T) {
	parts := record(t, 1, recorder.PartSize, func(int) *discoveryv3.DiscoveryResponse {
		return &discoveryv3.DiscoveryResponse{Resources: []*anypb.Any{{TypeUrl: "type.googleapis.com/acme.Thing", Value: []byte{8, 1}}}}
	})
	if want := `"resources":[{"@type":"type.googleapis.com/acme.Thing"}]`; !bytes.Contains(parts[0].Text, []byte(want)) || !bytes.Contains(parts[0].Text, []byte(`"left_out":[0]`)) {
		t.Errorf("want %s and left_out in\n%s", want, parts[0].Text)
	}
}

// TestErrors: what is not a recording is an error that says where.
func TestErrors(t *testing.T) {
	head := `{"recording":{"version":1,"id":"a","part":1}}` + "\n"
	for text, want := range map[string]string{
		"\n":   "f: not a recording",
		"{}\n": "f: not a recording",
		`{"recording":{"version":2,"id":"a","part":1}}` + "\n":    "f: a recording of version 2",
		head + "# a comment\n\nx\n":                               "f:4: not an event",
		head + "{}\n":                                             "f:2: not an event",
		head + `{"stream":1,"opened":{"method":"/a/b"}}` + "\n":   `f:2: "/a/b" is not a method of xDS`,
		head + `{"stream":1,"request":[]}` + "\n":                 "f:2: not an event",
		head + `{"stream":1,"response":{"resources":[1]}}` + "\n": "f:2: resource 0: ",
	} {
		err := recording.Judge(t.Context(), []*source.File{{Name: "f", Text: []byte(text)}}, protocol.NewChecker())
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestLongLists: names that are repeated from request to request are judged as those that the client asks for.
func TestLongLists(t *testing.T) {
	var all []string
	for i := range 200 {
		all = append(all, fmt.Sprint("service-", i))
	}
	request := func(names []string, nonce string) string {
		return fmt.Sprintf(`"request":{"node":{"id":"edge-1"},"version_info":%q,"type_url":%q,"response_nonce":%[1]q,"resource_names":["%[3]s"]}`, nonce, endpoints, strings.Join(names, `","`))
	}
	for name, want := range map[string][]string{"service-199": nil, "other": {"resource-unrequested", "resource-unrequested"}} {
		response := func(nonce string) string {
			return fmt.Sprintf(`"response":{"type_url":%q,"version_info":%q,"nonce":%[2]q,"resources":[{"@type":%[1]q,"cluster_name":%[3]q,"policy":{"drop_overloads":[{"category":%[2]q}]}}]}`,
				endpoints, nonce, name)
		}
		text := `{"recording":{"version":1,"id":"a","part":1}}` + "\n"
		for stream := range 2 { // the names of the second are known
			for i, event := range []string{fmt.Sprintf(`"opened":{"method":%q}`, ads), request(all, ""), response("a"), request(all, "a")} {
				text += fmt.Sprintf(`{"time":"2026-11-23T12:00:%02dZ","stream":%d,%s}`+"\n", i, stream, event)
			}
		}
		var clauses []string
		for _, f := range judge(t, &source.File{Name: "f", Text: []byte(text)}).Findings() {
			clauses = append(clauses, f.Clause.Name)
		}
		if !slices.Equal(clauses, want) {
			t.Errorf("with %q: %q", name, clauses)
		}
	}
}

// BenchmarkJudge judges a stream with 10,000 resources and 1,000 responses.
func BenchmarkJudge(b *testing.B) {
	parts := record(b, 1000, recorder.PartSize, func(i int) *discoveryv3.DiscoveryResponse {
		p := &discoveryv3.DiscoveryResponse{}
		n := 10
		if i == 0 {
			n = 10_000
		}
		for k := range n {
			p.Resources = append(p.Resources, pack(b, assignment(fmt.Sprint("cluster-", k), uint32(i))))
		}
		return p
	})
	for b.Loop() {
		if found := judge(b, parts...).Findings(); len(found) > 0 {
			b.Fatal(found[0].Message)
		}
	}
}
