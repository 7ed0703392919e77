package asjson_test

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/asjson"
	_ "github.com/xdslint/xdslint/internal/decode/linked"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
)

func write(t *testing.T, m proto.Message) (text string, faults []string) {
	t.Helper()
	w := asjson.Writer{Types: types.Envoy, Fault: func(_ int, what string) { faults = append(faults, what) }}
	out, err := w.JSON(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), faults
}

// slowly does the same with protojson, and a redaction of everything.
func slowly(m proto.Message) (string, error) {
	text, err := protojson.MarshalOptions{UseProtoNames: true, AllowPartial: true, Resolver: asjson.Resolver{Types: types.Envoy}}.Marshal(m)
	if err != nil {
		return "", err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return "", err
	}
	docs, err := syntax.ParseJSON(&source.File{Text: compact.Bytes()})
	if err != nil {
		return "", err
	}
	return string(redact.JSON(compact.Bytes(), docs[0], m.ProtoReflect().Descriptor().FullName(), types.Envoy)), nil
}

// numbered is a word for a secret: within one Any, different secrets get different words.
var numbered = regexp.MustCompile(`\[redacted \d+\]`)

// compare compares the JSON of messages, by themselves and in an Any.
func compare(t *testing.T, snapshots []*graph.Snapshot) (compared int) {
	t.Helper()
	for _, s := range snapshots {
		for _, r := range s.Resources {
			if r.Message == nil {
				continue
			}
			packed, err := anypb.New(r.Message)
			if err != nil {
				continue // a text in it is not UTF-8
			}
			for _, m := range []proto.Message{r.Message, packed} {
				want, err := slowly(m)
				if err != nil {
					continue // it cannot be written
				}
				got, faults := write(t, m)
				if len(faults) > 0 {
					continue // its API is newer, or of someone else
				}
				compared++
				got, want = numbered.ReplaceAllString(got, redact.Redaction), numbered.ReplaceAllString(want, redact.Redaction)
				if got != want && !sameJSON(t, got, want) {
					t.Errorf("%s %s:\n got %s\nwant %s", r.Kind, r.Name, got, want)
				}
			}
		}
	}
	return compared
}

// sameJSON compares texts whose numbers may be written differently.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return cmp.Equal(x, y)
}

// TestSame: what is written in one pass is what protojson writes and a redaction of everything leaves.
func TestSame(t *testing.T) {
	compared := 0
	secrets, _ := filepath.Glob("../../testdata/secrets/*")
	for _, path := range secrets {
		in, err := load.Paths(t.Context(), []string{path}, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		compared += compare(t, in.Snapshots)
	}
	archives, _ := filepath.Glob("../../testdata/rules/*/*.txtar")
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if !strings.HasSuffix(f.Name, ".yaml") || strings.HasPrefix(f.Name, "seen/") {
				continue
			}
			in, err := load.Texts(t.Context(), map[string][]byte{f.Name: f.Data}, load.Options{})
			if err == nil {
				compared += compare(t, in.Snapshots)
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d messages are compared", compared)
	}
}

// TestOdd: texts and numbers of all kinds.
func TestOdd(t *testing.T) {
	for _, m := range []proto.Message{
		&corev3.HeaderValue{Key: "x", Value: "\"\\/\b\f\n\r\t\x01\x7f é \u2028 😀 <&>", RawValue: []byte{0, 255}},
		&typev3.DoubleRange{Start: math.Inf(-1), End: 1e-7},
		&typev3.DoubleRange{Start: 1e6, End: 1e300},
		&structpb.Struct{Fields: map[string]*structpb.Value{"b": structpb.NewNumberValue(1), "a": structpb.NewNullValue()}},
		structpb.NewStringValue(`{"password": "x"}`),
	} {
		want, err := slowly(m)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := write(t, m); got != want && !sameJSON(t, got, want) {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

// TestLeftOut: what cannot be decoded or written is left out, and the rest remains.
func TestLeftOut(t *testing.T) {
	long, err := anypb.New(&clusterv3.Cluster{Name: "a", ConnectTimeout: &durationpb.Duration{Seconds: 1 << 60}})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []*anypb.Any{
		{TypeUrl: "type.googleapis.com/acme.Thing", Value: []byte("hunter2")}, {TypeUrl: long.GetTypeUrl(), Value: []byte{0xff}}, long,
	} {
		got, faults := write(t, &corev3.TypedExtensionConfig{Name: "x", TypedConfig: body})
		if want := `{"name":"x","typed_config":{"@type":"` + body.GetTypeUrl() + `"}}`; got != want || len(faults) != 1 {
			t.Errorf("got %s, %q", got, faults)
		}
	}
	if _, err := (asjson.Writer{Types: types.Envoy}).JSON(&durationpb.Duration{Seconds: 1 << 60}); err == nil {
		t.Error("a duration out of range is written")
	}
}
