package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/internal/words"
)

// Fault is a line that is not an event.
type Fault struct {
	File *source.File
	Span source.Span
	Err  error
}

func (f *Fault) Error() string {
	return fmt.Sprintf("%s:%d: %s", words.Name(f.File.Name), f.File.Position(f.Span.Start).Line, f.Err)
}

// Read returns the clients of recordings, in the order in which they come. A stream whose beginning is not recorded is
// left out. If a line is not an event, it returns what comes before, and a Fault.
func Read(ctx context.Context, parts []Part) ([]*Client, error) {
	r := &replay{}
	for i, p := range parts {
		if i == 0 || !p.Follows(parts[i-1]) {
			r.streams, r.now = map[string]*Stream{}, nil
		}
		for line := range p.File.Records(p.Body) {
			if ctx.Err() != nil {
				return r.clients, ctx.Err()
			}
			if err := r.line(p.File, line); err != nil {
				span := line
				var fault *syntax.Error
				if errors.As(err, &fault) {
					span = fault.Span
				}
				return r.clients, &Fault{p.File, span, err}
			}
		}
	}
	return r.clients, nil
}

// replay reads lines.
type replay struct {
	clients []*Client
	now     []*Client // those of the recording that is read
	streams map[string]*Stream
	lists   Lists
	lines   int
}

func (r *replay) line(f *source.File, span source.Span) error {
	r.lines++
	n, in, names, err := r.parse(f, span)
	if err != nil {
		return err
	}
	id := text(n.Get("stream"))
	at, err := time.Parse(time.RFC3339Nano, text(n.Get("time")))
	if err != nil {
		return errors.New("the time of the event is missing, or not one")
	}
	s := r.streams[id]
	e := &Step{File: f, Line: span, Number: r.lines, Time: at}
	switch opened := n.Get("opened"); {
	case opened != nil:
		method := text(opened.Get("method"))
		r.streams[id] = &Stream{
			Delta: strings.Contains(method, "/Delta"), Aggregated: strings.HasSuffix(method, "AggregatedResources"),
			asked: map[string]map[string]bool{}, listed: map[string][]string{}, open: map[string]*Step{},
		}
	case s == nil: // its beginning is not recorded
	case n.Get("request") != nil:
		r.request(s, e, n.Get("request"), in, names)
	case n.Get("response") != nil:
		s.response(e, n.Get("response"))
	case n.Get("closed") != nil:
		s.closed()
		delete(r.streams, id)
	}
	return nil
}

// parse reads a line. The file is the one that positions are in; the names are those of a request of SotW.
func (r *replay) parse(f *source.File, span source.Span) (n *tree.Node, in *source.File, names []string, err error) {
	line := f.Text[span.Start:span.End]
	if short, names := r.lists.Cut(line); names != nil {
		in := &source.File{Name: f.Name, Text: short}
		if n, err := syntax.ParseRecord(in, source.Span{End: len(short)}); err == nil && IsCut(listed(n)) {
			return n, in, names, nil
		}
	}
	if n, err = syntax.ParseRecord(f, span); err != nil {
		return nil, nil, nil, err
	}
	names = listed(n)
	r.lists.Keep(line, names)
	return n, f, names, nil
}

// listed returns the names of a request of SotW.
func listed(n *tree.Node) []string {
	if q := n.Get("request"); q != nil {
		return texts(q.Get("resource_names"))
	}
	return nil
}

func text(n *tree.Node) string {
	if n == nil {
		return ""
	}
	return n.Text
}

func texts(n *tree.Node) (all []string) {
	if n == nil {
		return nil
	}
	for i := range n.Items {
		all = append(all, n.Items[i].Text)
	}
	return all
}

func (r *replay) request(s *Stream, e *Step, q *tree.Node, in *source.File, names []string) {
	url := text(q.Get("type_url"))
	s.typeURL = url
	first := s.asked[url] == nil
	if s.client == nil {
		r.join(s, in, q.Get("node"))
	}
	if first {
		s.asked[url] = map[string]bool{}
		s.client.begins(s, url, text(q.Get("version_info")) != "" || q.Get("initial_resource_versions") != nil)
	}
	nonce := text(q.Get("response_nonce"))
	if answered := s.open[nonce]; answered != nil {
		delete(s.open, nonce)
		answered.Verdict, answered.Answered = Accepted, e.Number
		if q.Get("error_detail") != nil {
			answered.Verdict = Rejected
		}
	}
	if e.removed = s.dropped(url, q, names); len(e.removed) > 0 {
		e.Kind, e.Stream = graph.KindOf(decode.TypeName(url)), s
		s.client.Steps = append(s.client.Steps, e)
	}
}

// join finds the client of a stream by its first request.
func (r *replay) join(s *Stream, in *source.File, node *tree.Node) {
	all := ""
	if node != nil {
		all = string(in.Text[node.Start:node.End])
	}
	i := slices.IndexFunc(r.now, func(c *Client) bool {
		return all != "" && c.node == all && (!s.Aggregated || c.open[""] == 0)
	})
	if i < 0 {
		i = len(r.now)
		c := &Client{node: all, open: map[string]int{}}
		if node != nil {
			c.Node, c.UserAgent = text(node.Get("id")), text(node.Get("user_agent_name"))
		}
		r.now, r.clients = append(r.now, c), append(r.clients, c)
	}
	s.client = r.now[i]
	if s.Aggregated {
		s.client.open[""]++
	}
}

// begins notes that a stream asks for a type. versions: the client has resources of it.
func (c *Client) begins(s *Stream, url string, versions bool) {
	known := slices.ContainsFunc(c.Steps, func(step *Step) bool { return graph.TypeURL(step.Kind) == url })
	c.Resumed = c.Resumed || versions && !known
	if !s.Aggregated {
		c.open[url]++
		kind := graph.KindOf(decode.TypeName(url))
		c.Several = c.Several || c.open[url] > 1 && (kind == graph.Cluster || kind == graph.Listener)
	}
}

func (s *Stream) closed() {
	switch {
	case s.client == nil:
	case s.Aggregated:
		s.client.open[""]--
	default:
		for url := range s.asked {
			s.client.open[url]--
		}
	}
}

// dropped changes the names that a stream asks for, and returns those that it no longer does.
func (s *Stream) dropped(url string, q *tree.Node, listed []string) (names []string) {
	asked := s.asked[url]
	if s.Delta {
		for _, name := range texts(q.Get("resource_names_subscribe")) {
			asked[name] = true
		}
		for _, name := range texts(q.Get("resource_names_unsubscribe")) {
			if asked[name] {
				names = append(names, name)
			}
			delete(asked, name)
		}
		return names
	}
	if len(asked) > 0 && slices.Equal(listed, s.listed[url]) {
		return nil
	}
	now := map[string]bool{}
	for _, name := range listed {
		now[name] = true
	}
	for name := range asked {
		if !now[name] && name != "*" && !now["*"] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	s.asked[url], s.listed[url] = now, listed
	return names
}

func (s *Stream) response(e *Step, p *tree.Node) {
	if s.client == nil {
		return // an answer to nothing
	}
	url := text(p.Get("type_url"))
	if url == "" {
		url = s.typeURL
	}
	e.Kind, e.Stream, e.Response, e.removed = graph.KindOf(decode.TypeName(url)), s, true, texts(p.Get("removed_resources"))
	e.complete = !s.Delta && (e.Kind == graph.Cluster || e.Kind == graph.Listener)
	if list := p.Get("resources"); list != nil {
		for i := range list.Items {
			e.add(&list.Items[i], s.Delta)
		}
	}
	if nonce := text(p.Get("nonce")); nonce != "" {
		s.open[nonce] = e
	}
	s.client.Steps = append(s.client.Steps, e)
}

const wrapper = "envoy.service.discovery.v3.Resource"

// add adds a resource of a response. In Delta and in a wrapper, its name and version are next to its content.
func (s *Step) add(n *tree.Node, delta bool) {
	var i item
	body := n
	if delta || decode.TypeName(text(n.Get("@type"))) == wrapper {
		i.name, i.version = text(n.Get("name")), text(n.Get("version"))
		i.ttl, _ = time.ParseDuration(text(n.Get("ttl")))
		body = n.Get("resource")
	}
	if body == nil { // a heartbeat
		s.complete = false
		return
	}
	i.kind, i.body = graph.KindOf(decode.TypeName(text(body.Get("@type")))), body.Span()
	if i.kind == "" {
		s.complete = false
		return // not a resource of Envoy
	}
	for _, field := range []string{"name", "cluster_name"} {
		if i.name == "" {
			i.name = text(body.Get(field))
		}
	}
	s.complete = s.complete && i.name != ""
	s.set = append(s.set, i)
}

// Title returns the name of a client in texts.
func (c *Client) Title() string {
	if c.Node == "" {
		return "a client without a node"
	}
	return "node " + strconv.Quote(c.Node)
}
