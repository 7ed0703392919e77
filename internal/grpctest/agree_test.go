package grpctest

import (
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

var (
	mutants = flag.Int("mutants", 2000, "how many mutants TestAgree asks about")
	seed    = flag.Uint64("seed", 1, "of the mutants")
	folder  = flag.String("seeds", "", "a folder with more resources as JSON, for TestAgree")
)

// provider is the certificate provider that the bootstrap declares.
const provider = "default"

// TestAgree asks the real client and the rules about mutants of the examples of group grpc. Both accept, or both reject.
func TestAgree(t *testing.T) {
	c, err := New(t.Context(), provider)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := rand.New(rand.NewPCG(*seed, 0))
	all := corpus(t)
	asked, bad := 0, 0
	for range *mutants {
		mutant := proto.Clone(all[r.IntN(len(all))])
		for range 1 + r.IntN(3) {
			if r.IntN(3) == 0 {
				Splice(r, mutant, all[r.IntN(len(all))])
			} else {
				Mutate(r, mutant)
			}
		}
		packed, text, ok := written(mutant)
		if !ok {
			continue // it has no text, for example because of an Any without a type
		}
		asked++
		rejected, err := c.Judge(t.Context(), packed.GetTypeUrl(), packed)
		if err != nil {
			t.Fatal(err)
		}
		if rejected != nil {
			bad++
		}
		if found := rejections(t, text); (rejected != nil) != (len(found) > 0) {
			t.Errorf("the client says %v\nthe rules say %q\n%s", rejected, found, text)
		}
	}
	t.Logf("%d mutants, of which the client rejects %d", asked, bad)
	if asked < *mutants/2 {
		t.Errorf("only %d of %d mutants could be asked about", asked, *mutants)
	}
}

// features are variables that switch features on whose configuration the rules check.
var features = []string{
	"GRPC_EXPERIMENTAL_XDS_SYSTEM_ROOT_CERTS=true", "GRPC_EXPERIMENTAL_XDS_HTTP_CONNECT=true", "GRPC_EXPERIMENTAL_XDS_SNI=true",
	"GRPC_EXPERIMENTAL_XDS_GCP_AUTHENTICATION_FILTER=true", "GRPC_EXPERIMENTAL_XDS_MTLS_SPIFFE=true", "GRPC_EXPERIMENTAL_XDS_DUALSTACK_ENDPOINTS=false",
}

// TestAgreeWithFeatures does the same with environment variables, which grpc-go reads when a process starts.
func TestAgreeWithFeatures(t *testing.T) {
	child := exec.CommandContext(t.Context(), os.Args[0], append([]string{"-test.run=^TestAgree$"}, flags()...)...)
	child.Env = append(os.Environ(), features...)
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// flags returns the flags of this test for another process.
func flags() (all []string) {
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			all = append(all, "-"+f.Name+"="+f.Value.String())
		}
	})
	return all
}

// environment returns the variables that the client of this process has read.
func environment() map[string]string {
	all := map[string]string{}
	for _, variable := range os.Environ() {
		if name, value, ok := strings.Cut(variable, "="); ok && strings.HasPrefix(name, "GRPC_") {
			all[name] = value
		}
	}
	return all
}

// written packs a message, and writes it as the file that the rules read.
func written(m proto.Message) (packed *anypb.Any, text []byte, ok bool) {
	packed, err := anypb.New(m)
	if err != nil {
		return nil, nil, false
	}
	text, err = protojson.MarshalOptions{UseProtoNames: true, Multiline: true}.Marshal(packed)
	return packed, text, err == nil
}

func rejections(t *testing.T, text []byte) (found []string) {
	t.Helper()
	input, err := load.Texts(t.Context(), map[string][]byte{"resource.json": text, "bootstrap.json": bootstrap("127.0.0.1:1", listenerName, []string{provider})}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	target, err := dataplane.Parse("grpc-go")
	if err != nil {
		t.Fatal(err)
	}
	result := lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: rules.Builtin(), Target: target, TargetGiven: true, GRPCEnv: environment()})
	for _, failure := range result.Failures {
		t.Errorf("%v\n%s\n%s", failure, failure.Stack, text)
	}
	for i := range result.Diagnostics {
		if d := &result.Diagnostics[i]; d.Rejected {
			found = append(found, d.Rule.ID()+": "+d.Message)
		}
	}
	return found
}

// corpus returns the resources in the examples.
func corpus(t *testing.T) (all []proto.Message) {
	t.Helper()
	texts := map[string][]byte{}
	paths, _ := filepath.Glob(filepath.Join(*folder, "*.json"))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = text
	}
	for _, rule := range rules.Builtin() {
		for _, sample := range explain.Samples(rule) {
			for _, f := range sample.Files {
				if rule.Family == dataplane.GRPC {
					texts[rule.ID()+"/"+f.Name] = []byte(f.Whole())
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		input, err := load.Texts(t.Context(), map[string][]byte{name: texts[name]}, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range input.Snapshots {
			for _, r := range s.Resources {
				switch r.Kind {
				case graph.Listener, graph.RouteConfiguration, graph.Cluster, graph.ClusterLoadAssignment:
					all = append(all, r.Message)
				}
			}
		}
	}
	return all
}
