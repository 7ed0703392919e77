package rules_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/grpctest"
)

// clientPatience is how long a client may take. It takes milliseconds unless the machine is busy.
const clientPatience = 5 * time.Minute

// grpcClient is the client that judges all examples. Its bootstrap declares the certificate provider of the examples.
var grpcClient = sync.OnceValues(func() (*grpctest.Client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), clientPatience)
	defer cancel()
	return grpctest.New(ctx, "default")
})

// aboutGRPC reports whether the examples of an archive are for gRPC.
func (a *archive) aboutGRPC() bool { return a.flagsOf("").target.Family() == dataplane.GRPC }

// readRPC reads the section rpc.
func (a *archive) readRPC(text string) error {
	for line := range strings.Lines(text) {
		example, status, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || !a.has(example) {
			return fmt.Errorf("rpc: %q is not \"EXAMPLE: STATUS\"", line)
		}
		a.rpc[example] = status
	}
	return nil
}

// askGRPC asks a real grpc-go client about the examples. It rejects a resource if and only if a rule says so. After an example that fails RPCs,
// an RPC is sent. These tests run side by side: a client waits for resources that do not exist.
func (a *archive) askGRPC(t *testing.T, judgements []judgement) {
	for _, j := range judgements {
		var all []proto.Message
		t.Run(j.name(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), clientPatience)
			defer cancel()
			for _, s := range j.snapshots {
				for _, r := range s.Resources {
					j.compareClient(ctx, t, r)
					if r.Kind != graph.GRPCBootstrap {
						all = append(all, r.Message)
					}
				}
			}
		})
		t.Run(j.name()+"/rpc", func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), clientPatience)
			defer cancel()
			j.call(ctx, t, all)
		})
	}
}

// compareClient compares what the client says of one resource with the rules.
func (j judgement) compareClient(ctx context.Context, t *testing.T, r *graph.Resource) {
	var refusals, words []string
	for i := range j.found {
		if d := &j.found[i]; d.Rejected && d.Resource == r {
			refusals, words = append(refusals, d.Rule.ID()+": "+d.Message), append(words, d.Upstream)
		}
	}
	rejected, err := askClient(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	if (rejected != nil) != (len(refusals) > 0) {
		t.Errorf("of %s %q, the client says: %v; the rules say: %q", r.Kind, r.Name, rejected, refusals)
	}
	quoted := func(words string) bool { return words != "" && strings.Contains(rejected.Error(), words) }
	if rejected != nil && !slices.ContainsFunc(words, quoted) { // it stops at its first error
		t.Errorf("of %s %q, the client says: %v; the rules quote: %q", r.Kind, r.Name, rejected, words)
	}
}

func askClient(ctx context.Context, r *graph.Resource) (rejected, err error) {
	if r.Kind == graph.GRPCBootstrap {
		return grpctest.Bootstrap(r.File.Text), nil
	}
	c, err := grpcClient()
	if err != nil {
		return nil, err
	}
	packed, err := anypb.New(r.Message)
	if err != nil {
		return nil, err
	}
	return c.Judge(ctx, packed.GetTypeUrl(), packed)
}

// call sends an RPC if the archive says what comes of it. It has to say so if a rule claims that RPCs fail.
func (j judgement) call(ctx context.Context, t *testing.T, resources []proto.Message) {
	want := j.archive.rpc[j.example]
	if want == "" {
		for i := range j.found {
			if d := &j.found[i]; strings.Contains(strings.Join(d.Notes, " "), "fails all RPCs") {
				t.Errorf("%s: the section rpc does not show it: %s", d.Rule.ID(), d.Message)
			}
		}
		return
	}
	got, err := grpctest.Call(ctx, resources)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != want {
		t.Errorf("an RPC gets %s instead of %s", got, want)
	}
}
