//go:build !wasm

package load

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/history"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/words"
)

// isRecording reports whether a file is a recording of xDS streams.
func isRecording(f *source.File) bool { return history.Is(f) }

// recorded returns a snapshot of each client in recordings (xdslint record): what it had been sent at a time. Clusters and
// secrets of the bootstraps among others may be those of the client.
func (l *loader) recorded(others []*graph.Snapshot) ([]*graph.Snapshot, error) {
	var files []*source.File
	of := map[*source.File]*input{}
	for _, in := range l.inputs {
		if in.as == recording {
			files = append(files, in.file)
			of[in.file] = in
		}
	}
	parts, err := history.Parts(files)
	if err != nil {
		return nil, err
	}
	clients, err := history.Read(l.ctx, parts)
	var fault *history.Fault
	switch {
	case errors.As(err, &fault):
		of[fault.File].problem(graph.Syntax, fault.Span, "not an event of a recording: %s", fault.Err)
	case err != nil:
		return nil, err
	}
	if err := l.checkNode(clients); err != nil && fault == nil {
		return nil, err
	}
	clients = slices.DeleteFunc(clients, func(c *history.Client) bool { return l.opts.Node != "" && c.Node != l.opts.Node })
	var all []*graph.Snapshot
	for _, c := range clients {
		resources := c.At(l.ctx, l.types, l.opts.At)
		if len(resources) == 0 {
			continue
		}
		a := l.assemble(c.Title())
		a.snapshot.NoBootstrap, a.snapshot.UserAgent = true, c.UserAgent
		a.snapshot.Assumptions.Names = slices.Concat(a.snapshot.Assumptions.Names, staticNames(others))
		a.snapshot.Add(resources...)
		if fault != nil {
			a.broken(of[fault.File], graph.Anywhere)
			of[fault.File].used = true
		}
		all = append(all, a.finish())
	}
	if len(all) == 0 && fault == nil {
		return nil, l.checkTime(clients)
	}
	return all, nil
}

// checkNode returns an error if other clients than that of Options.Node were recorded, and not that one.
func (l *loader) checkNode(clients []*history.Client) error {
	var known []string
	for _, c := range clients {
		known = append(known, c.Node)
	}
	if l.opts.Node == "" || len(known) == 0 || slices.Contains(known, l.opts.Node) {
		return nil
	}
	slices.Sort(known)
	return fmt.Errorf("no recorded client has the node ID %q; recorded: %s", l.opts.Node, words.Few(words.Quoted(slices.Compact(known)), 6))
}

// checkTime returns an error if all responses to clients came after the time of Options.At.
func (l *loader) checkTime(clients []*history.Client) error {
	if l.opts.At.IsZero() {
		return nil
	}
	var first time.Time
	for _, c := range clients {
		at := slices.IndexFunc(c.Steps, func(s *history.Step) bool { return s.Response })
		if at < 0 {
			continue
		}
		if t := c.Steps[at].Time; first.IsZero() || t.Before(first) {
			first = t
		}
	}
	if !first.After(l.opts.At) {
		return nil
	}
	return fmt.Errorf("no client had been sent anything at %s: the first recorded response came at %s", l.opts.At.Format(time.RFC3339Nano), first.In(l.opts.At.Location()).Format(time.RFC3339Nano))
}
