package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph"
)

// Rejection is an error of Options.Push: the node has rejected resources of a type (NACK).
type Rejection interface {
	error
	Rejected() (typeURL, message string) // the message is what the node says about it; it may name resources
}

// push is one call of SetSnapshot. When the node rejects resources, it begins again without them.
type push struct {
	*Gate
	to       *node
	name     string // of the node
	snapshot cachev3.ResourceSnapshot

	number   int        // of the pushes to the node; 0: it has not begun
	base     *candidate // what the node had when it began; nil: not known
	first    bool       // the node had no snapshot then
	out      *candidate // what was sent; nil: not known
	rejected map[key]string
	err      error // the last Rejection
}

// finish calls Options.Push, and again without what the node rejects.
func (p *push) finish(ctx context.Context, send func() error) error {
	for {
		err := send()
		if !p.learn(err) {
			return err
		}
		if send, err = p.admit(ctx); err != nil || send == nil {
			return err
		}
	}
}

// admit takes the node's turn, decides, and pushes. With Options.Push it returns the push instead: this can take long, and a later snapshot
// must not wait for it.
func (p *push) admit(ctx context.Context) (send func() error, err error) {
	if err := p.to.take(ctx); err != nil {
		return nil, err
	}
	defer p.to.yield() // also where Report or the cache panics
	switch {
	case p.number == 0:
		p.to.number++
		p.number = p.to.number
	case p.number != p.to.number:
		return nil, ErrSuperseded
	}
	decision, err := p.decide(ctx)
	if err != nil {
		return nil, err
	}
	p.report(decision, p.snapshot)
	if decision.Outcome == Blocked {
		return nil, &BlockedError{decision}
	}
	if p.to.base = p.out; p.out != nil {
		p.shared.add(p.out, decision.Snapshot)
	}
	if p.options.Push == nil {
		return nil, p.SnapshotCache.SetSnapshot(ctx, p.name, decision.Snapshot)
	}
	if p.options.Pushed != nil {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, done := p.to.start(ctx)
	return func() error {
		defer done()
		return p.options.Push(ctx, p.name, decision.Snapshot)
	}, nil
}

// learn reports whether an error shows what to withhold from the next attempt.
func (p *push) learn(err error) bool {
	var rejection Rejection
	if p.options.Policy != Quarantine || p.base == nil || p.out == nil || !errors.As(err, &rejection) {
		return false
	}
	url, message := rejection.Rejected()
	guilty := p.suspects(url, message)
	if p.err = err; p.rejected == nil {
		p.rejected = map[key]string{}
	}
	for _, k := range guilty {
		p.rejected[k] = "the node rejected it: " + message
		if len(guilty) > 1 {
			p.rejected[k] = fmt.Sprintf("the node rejected it or another %s: %s", k.kind(), message)
		}
	}
	return len(guilty) > 0
}

// suspects lists what was sent of a type and is new or changed: the resources that the message names, or else all of them.
func (p *push) suspects(url, message string) []key {
	var all []key
	for _, k := range p.out.order {
		was, is := p.base.at(k), p.out.at(k)
		if urls[k.of] == url && (was == nil || was != is && !graph.Equal(was, is)) {
			all = append(all, k)
		}
	}
	said := wordsOf(message)
	if named := slices.DeleteFunc(slices.Clone(all), func(k key) bool { return !said[k.name] }); len(named) > 0 {
		return named
	}
	return all
}

// wordsOf splits a message at spaces and punctuation that is not part of names. Envoy writes: Error adding/updating listener(s) a: text, b: text.
func wordsOf(message string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.FieldsFunc(message, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`'",;()`, r) }) {
		all[strings.TrimRight(word, ":.")] = true
	}
	return all
}
