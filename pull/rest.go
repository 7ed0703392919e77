package pull

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/asjson"
	"github.com/xdslint/xdslint/internal/calls"
)

// REST fetches resources by polling, as Envoy does with an api_config_source of type REST (HttpSubscriptionImpl). It requests what is missing
// again until Request.Wait has passed.
func REST(ctx context.Context, server Server, r Request) (*Result, error) {
	r = r.filled()
	c, err := newCaller(server)
	if err != nil {
		return nil, err
	}
	defer c.close()
	p := &poller{subscriptions: newSubscriptions(server, r.Types, false), caller: c, request: r, asked: map[graph.Kind][]string{}}
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	return p.result(), nil
}

type poller struct {
	*subscriptions
	caller  *caller
	request Request
	asked   map[graph.Kind][]string // the names of the last request
}

// interval is the time between two requests for what is missing.
const interval = 500 * time.Millisecond

func (p *poller) run(ctx context.Context) error {
	silence := time.NewTimer(p.request.Wait)
	defer silence.Stop()
	for {
		news, err := p.round(ctx)
		switch {
		case ctx.Err() != nil && !errors.Is(ctx.Err(), context.Canceled) && len(p.asked) > 0:
			p.late = true
			return nil
		case err != nil:
			return err
		case p.settled():
			return nil
		case news:
			silence.Reset(p.request.Wait)
			continue
		}
		select {
		case <-time.After(interval):
		case <-silence.C:
			return nil
		case <-ctx.Done():
		}
	}
}

// round requests each kind once that is new, changed or not complete. News reports whether names were requested for the first time.
func (p *poller) round(ctx context.Context) (news bool, err error) {
	for _, kind := range p.asking() {
		state, names := p.kinds[kind], p.kinds[kind].wants()
		before, again := p.asked[kind]
		again = again && slices.Equal(before, names)
		if again && len(state.missing(kind)) == 0 || !state.all && len(names) == 0 {
			continue
		}
		// A stateless server would answer a request for other names with the same version with nothing.
		version := ""
		if again {
			version = state.version
		}
		if err := p.fetch(ctx, kind, names, version); err != nil {
			return news, err
		}
		p.asked[kind] = names
		news = news || !again
	}
	return news, nil
}

func (p *poller) fetch(ctx context.Context, kind graph.Kind, names []string, version string) error {
	url := graph.TypeURL(kind)
	body, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(&discoveryv3.DiscoveryRequest{
		Node: p.request.Node, TypeUrl: url, ResourceNames: names, VersionInfo: version,
	})
	if err != nil {
		return err
	}
	status, answer, err := p.caller.do(ctx, http.MethodPost, calls.Path(kind), bytes.NewReader(body))
	switch {
	case err != nil:
		return err
	case status == http.StatusNotModified:
		return nil
	case status != http.StatusOK:
		err := p.caller.statusError(calls.Path(kind), status, answer)
		if kind == graph.Cluster || kind == graph.Listener {
			return err
		}
		p.fault("%v", err) // an old server may lack some kinds
		return nil
	}
	r := &discoveryv3.DiscoveryResponse{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true, Resolver: asjson.Resolver{Types: p.types}}).Unmarshal(answer, r); err != nil {
		return fmt.Errorf("%s: the server's answer is not a DiscoveryResponse: %w", calls.Path(kind), err)
	}
	got := stateOfTheWorld(r)
	got.url = url
	return p.accept(got)
}
