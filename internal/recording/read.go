package recording

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/xdslint/xdslint/internal/history"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/strict"
	"github.com/xdslint/xdslint/internal/words"
)

// Judge feeds the events of files to a checker: first of logs of clients, then of recordings. Parts of one recording are
// one, in the order of their numbers; otherwise the files are judged in their order. What follows the end of ctx is not
// judged.
func Judge(ctx context.Context, files []*source.File, c *protocol.Checker) error {
	var recorded []*source.File
	for _, f := range files {
		judge := logOf(f)
		if judge == nil {
			recorded = append(recorded, f)
		} else if err := judge(ctx, f, c); err != nil {
			return err
		}
	}
	parts, err := history.Parts(recorded)
	if err != nil {
		return err
	}
	r := newReader()
	for i, p := range parts {
		if i > 0 && !p.Follows(parts[i-1]) {
			c.End() // another recording, or one without a part
		}
		r.id = p.ID
		if err := r.read(ctx, p.File, p.Body, c.Feed); err != nil {
			return err
		}
	}
	c.End()
	return nil
}

// logOf returns what judges the log of a client, nil for another file.
func logOf(f *source.File) func(context.Context, *source.File, *protocol.Checker) error {
	switch {
	case history.Is(f):
	case logged().Match(f.Text):
		return judgeLog
	case envoyLogged().Match(f.Text):
		return judgeEnvoyLog
	}
	return nil
}

// reader turns lines into events.
type reader struct {
	id      string
	seed    maphash.Seed
	streams map[string]*protocol.Opened
	lists   *history.Lists
}

func newReader() reader {
	return reader{seed: maphash.MakeSeed(), streams: map[string]*protocol.Opened{}, lists: &history.Lists{}}
}

func (r *reader) read(ctx context.Context, f *source.File, at int, feed func(*protocol.Event)) error {
	for line := range f.Records(at) {
		if ctx.Err() != nil {
			return nil
		}
		e, err := r.event(f.Text[line.Start:line.End])
		if err != nil {
			return placed(f, line.Start, err)
		}
		e.At = protocol.At{File: f, Span: line}
		feed(e)
	}
	return nil
}

// event reads a line.
func (r *reader) event(text []byte) (*protocol.Event, error) {
	l, err := r.decode(text)
	if err != nil {
		return nil, fmt.Errorf("not an event: %w", strict.Plain(err))
	}
	e := &protocol.Event{Time: l.Time, Stream: r.id + " " + strconv.Itoa(l.Stream)}
	known := r.streams[e.Stream]
	switch {
	case l.Opened != nil:
		o, ok := Stream(l.Opened.Method)
		if !ok {
			return nil, fmt.Errorf("%q is not a method of xDS", l.Opened.Method)
		}
		e.Opened, r.streams[e.Stream] = &o, &o
	case l.Closed != nil:
		e.Closed = closed(l.Closed.Code)
	case l.Request != nil:
		e.Request = l.Request.event(known)
	case l.Response != nil:
		e.Response, err = r.response(l.Response, l.LeftOut, known)
	case l.NotModified:
		e.NotModified = true
	case l.Unreadable != "":
		e.Closed = &protocol.Closed{} // what follows on the stream cannot be judged
	default:
		return nil, errors.New("not an event: it has neither opened, request, response, not_modified nor closed")
	}
	return e, err
}

// decode reads a line. The names of a request are canonical.
func (r *reader) decode(text []byte) (*eventJSON, error) {
	if short, names := r.lists.Cut(text); names != nil {
		var l eventJSON
		if json.Unmarshal(short, &l) == nil && l.Request != nil && history.IsCut(l.Request.Names) {
			l.Request.Names = names
			return &l, nil
		}
	}
	var l eventJSON
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, err
	}
	if l.Request != nil {
		r.lists.Keep(text, canonical(l.Request.Names))
	}
	return &l, nil
}

// closed returns who has ended a stream, as far as the status says. OK may be the answer to a client that has ended it.
func closed(code string) *protocol.Closed {
	switch code {
	case "Canceled":
		return &protocol.Closed{Client: true}
	case "", "OK", "DeadlineExceeded":
		return &protocol.Closed{}
	}
	return &protocol.Closed{Server: true}
}

// eventJSON is a Line of which only what clauses are about is read.
type eventJSON struct {
	Line
	Request  *requestJSON  `json:"request"`
	Response *responseJSON `json:"response"`
}

// requestJSON has the fields of a DiscoveryRequest and of a DeltaDiscoveryRequest that clauses are about.
type requestJSON struct {
	Version     string            `json:"version_info"`
	Node        json.RawMessage   `json:"node"`
	Names       []string          `json:"resource_names"`
	TypeURL     string            `json:"type_url"`
	Nonce       string            `json:"response_nonce"`
	Error       *protocol.Error   `json:"error_detail"`
	Subscribe   []string          `json:"resource_names_subscribe"`
	Unsubscribe []string          `json:"resource_names_unsubscribe"`
	Known       map[string]string `json:"initial_resource_versions"`
}

func (q *requestJSON) event(o *protocol.Opened) *protocol.Request {
	out := &protocol.Request{
		TypeURL: q.TypeURL, Nonce: q.Nonce, Version: q.Version, Names: q.Names, Unsubscribe: canonical(q.Unsubscribe),
		Node: string(q.Node), Error: q.Error,
	}
	if o != nil && o.Delta {
		out.Names = canonical(q.Subscribe)
	}
	if len(q.Known) > 0 {
		out.Known = map[string]string{}
		for name, version := range q.Known {
			out.Known[protocol.Canonical(name)] = version
		}
	}
	return out
}

// canonical makes names comparable.
func canonical(names []string) []string {
	for i, name := range names {
		names[i] = protocol.Canonical(name)
	}
	return names
}

// responseJSON has the fields of a DiscoveryResponse and of a DeltaDiscoveryResponse.
type responseJSON struct {
	Version   string            `json:"version_info"`
	System    string            `json:"system_version_info"`
	Resources []json.RawMessage `json:"resources"`
	TypeURL   string            `json:"type_url"`
	Nonce     string            `json:"nonce"`
	Removed   []string          `json:"removed_resources"`
}

func (r *reader) response(p *responseJSON, leftOut []int, o *protocol.Opened) (*protocol.Response, error) {
	out := &protocol.Response{TypeURL: p.TypeURL, Nonce: p.Nonce, Version: cmp.Or(p.Version, p.System), Removed: canonical(p.Removed)}
	out.Resources = make([]protocol.Resource, len(p.Resources))
	for i, raw := range p.Resources {
		one, err := r.resource(raw, o != nil && o.Delta)
		if err != nil {
			return nil, fmt.Errorf("resource %d: %w", i, err)
		}
		one.Opaque = one.Opaque || slices.Contains(leftOut, i)
		out.Resources[i] = one
	}
	return out, nil
}

// bodyJSON has what is read of the content of a resource.
type bodyJSON struct {
	Type      string `json:"@type"`
	Name      any    `json:"name"`
	Cluster   any    `json:"cluster_name"`
	Discovery any    `json:"type"`
	EDS       *struct {
		Service string `json:"service_name"`
	} `json:"eds_cluster_config"`
}

// wrapperJSON is an envoy.service.discovery.v3.Resource.
type wrapperJSON struct {
	Name     string          `json:"name"`
	Aliases  []string        `json:"aliases"`
	Version  string          `json:"version"`
	Resource json.RawMessage `json:"resource"`
	TTL      string          `json:"ttl"`
}

const wrapper = "type.googleapis.com/envoy.service.discovery.v3.Resource"

// resource reads a resource. In Delta and in a wrapper, its name and version are next to its content.
func (r *reader) resource(raw json.RawMessage, delta bool) (protocol.Resource, error) {
	if !delta {
		out, err := r.body(raw)
		if err != nil || out.TypeURL != wrapper {
			return out, err
		}
	}
	var outer wrapperJSON
	if err := json.Unmarshal(raw, &outer); err != nil {
		return protocol.Resource{}, strict.Plain(err)
	}
	var out protocol.Resource
	if outer.Resource != nil {
		body, err := r.body(outer.Resource)
		if err != nil {
			return out, err
		}
		out = body
	}
	out.Name, out.Aliases, out.Version = protocol.Canonical(outer.Name), canonical(outer.Aliases), outer.Version
	out.Wrapped = !delta
	out.TTL, out.Unresolved = outer.TTL != "", outer.Resource == nil && len(outer.Aliases) > 0
	out.Heartbeat = outer.Resource == nil && !out.Unresolved
	return out, nil
}

// body reads the content of a resource.
func (r *reader) body(raw json.RawMessage) (protocol.Resource, error) {
	var in bodyJSON
	if err := json.Unmarshal(raw, &in); err != nil {
		return protocol.Resource{}, strict.Plain(err)
	}
	name, _ := in.Name.(string)
	cluster, _ := in.Cluster.(string)
	out := protocol.Resource{
		Name: cmp.Or(name, cluster), TypeURL: in.Type, Content: maphash.Bytes(r.seed, raw), Opaque: bytes.Contains(raw, []byte(redact.Redaction)),
	}
	if in.Discovery == "EDS" {
		out.Endpoints = out.Name
		if in.EDS != nil && in.EDS.Service != "" {
			out.Endpoints = in.EDS.Service
		}
	}
	return out, nil
}

// placed adds FILE:LINE to an error.
func placed(f *source.File, offset int, err error) error {
	return fmt.Errorf("%s:%d: %w", words.Name(f.Name), f.Position(offset).Line, err)
}
