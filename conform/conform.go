package conform

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/pull"
)

// Options say how to test.
type Options struct {
	// Node is the node of the clients: the server chooses the resources by it.
	Node *corev3.Node
	// Wait is how long the server may take for an answer; 0 means DefaultWait.
	Wait time.Duration
	// Change changes what the server serves. The action is add, change or delete; the resource is KIND/NAME, or empty:
	// Change then chooses one. If it returns an error, the change is left out. What it adds is deleted at the end. Nil:
	// nothing changes.
	Change func(ctx context.Context, action, resource string) error

	// transports are those that are tested; nil: all.
	transports []transport
}

// DefaultWait is how long a server may take for an answer, unless the options say otherwise.
const DefaultWait = 5 * time.Second

// Run tests a server. The error says why it cannot be tested.
func Run(ctx context.Context, server pull.Server, o Options) (*Report, error) {
	if o.Wait == 0 {
		o.Wait = DefaultWait
	}
	if o.transports == nil {
		o.transports = transports
	}
	conn, err := server.Dial(o.Node.GetUserAgentName())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	r := &run{Options: o, server: server, conn: conn, results: results{}, unserved: map[transport]bool{}}
	if r.world, r.missing, err = r.discover(ctx, o.Wait); err != nil {
		return nil, err
	}
	for _, t := range o.transports {
		if err := r.transport(ctx, t); err != nil {
			return nil, err
		}
	}
	report := r.results.report(false, r.transports, func(transport) (urls []string) {
		for _, kind := range r.asked() {
			urls = append(urls, graph.TypeURL(kind))
		}
		return urls
	})
	report.Notes = r.notes
	return report, ctx.Err()
}

// run is one run.
type run struct {
	Options
	server  pull.Server
	conn    *grpc.ClientConn
	world   world
	missing map[graph.Kind][]string // at first: names that the server does not send, or not so that they can be read
	results results
	notes
	slowest  time.Duration      // the longest time that the server took for a response
	unserved map[transport]bool // aggregated streams that the server does not have
}

// transport plays the scenarios over a transport.
func (r *run) transport(ctx context.Context, t transport) error {
	for _, s := range scenarios {
		if r.unserved[t] {
			return nil
		}
		if s.only != nil && !s.only(t) || s.changes && r.Change == nil {
			continue
		}
		if err := r.scenario(ctx, t, s); err != nil {
			return fmt.Errorf("%s, %s: %w", t, s.name, err)
		}
	}
	return nil
}

// notes say what could not be tested.
type notes []string

func (n *notes) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(*n, text) {
		*n = append(*n, text)
	}
}
