// Package walk determines what Envoy does with a request, without an Envoy: what `xdslint route` shows. Walk answers for single requests, and Rule makes
// tests of them a rule for linters and gates.
package walk

import (
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/walk"
)

// Request is a request that a client sends. docs/route.md describes its fields.
type Request = walk.Request

// Header is the name and the value of a header.
type Header = walk.Header

// Listener is the name or the port of a listener.
type Listener = walk.Listener

// Identity is the URI or the DNS name in the certificate of a client.
type Identity = walk.Identity

// Proxied is what the PROXY protocol says about a connection.
type Proxied = walk.Proxied

// Answer is what Envoy does with a Request. docs/route.md describes its fields.
type Answer = walk.Answer

// Walk follows requests through a snapshot, as Envoy 1.40 does. The answers are in the order of the requests. An error
// means that a request makes no sense.
func Walk(s *graph.Snapshot, requests ...*Request) ([]*Answer, error) {
	w := walk.New(s)
	all := make([]*Answer, len(requests))
	for i, r := range requests {
		var err error
		if all[i], err = w.Walk(r); err != nil {
			return nil, err
		}
	}
	return all, nil
}
