package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// envoyLogged is what Envoy logs about a stream at the level trace: that it opens and ends, each request of SotW, and of
// each response the type and the version.
var envoyLogged = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[^\n]*?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d\.\d+)[^\n]*?[ \t](?:` +
		`Establishing new gRPC bidi stream to \S+ for rpc (\w+)|(\w+) gRPC config stream to \S+ closed[^:\n]*: (\d+)|` +
		`Sending DiscoveryRequest for (\S+): ([^\n]*)|Received (?:gRPC message|DeltaDiscoveryResponse) for (\S+) at version ([^\n]*))`)
})

// errNoRequests is the error for a log that cannot be judged.
var errNoRequests = errors.New("a log of Envoy without requests: Envoy logs those of SotW at the level trace, and never those of Delta: " +
	"put xdslint record in front of the control plane")

// envoyEntry is an entry of a log of Envoy.
type envoyEntry struct {
	span           source.Span
	time           time.Time
	opened, closed string // a method
	code           string
	request        []byte // as text
	typeURL        string // of a request or a response
	version        string // of a response
	nonce          string // of a request, and of the response that it answers
}

// judgeEnvoyLog feeds what an Envoy has logged to a checker. Streams that the log cannot tell apart are left out.
func judgeEnvoyLog(ctx context.Context, f *source.File, c *protocol.Checker) error {
	l := &envoyLog{file: f, reader: newReader(), open: map[string]int{}, several: map[string]bool{}, feed: c.Feed}
	requests := false
	for _, m := range envoyLogged().FindAllSubmatchIndex(f.Text, -1) {
		if ctx.Err() != nil {
			return nil
		}
		e := newEnvoyEntry(f, m)
		requests = requests || e.request != nil
		l.entries = append(l.entries, e)
	}
	if !requests {
		return fmt.Errorf("%s: %w", f.Name, errNoRequests)
	}
	l.match()
	for _, e := range l.entries {
		if err := l.entry(e); err != nil {
			return placed(f, e.span.Start, err)
		}
	}
	c.End()
	return nil
}

func newEnvoyEntry(f *source.File, m []int) *envoyEntry {
	text := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return string(f.Text[m[2*i]:m[2*i+1]])
	}
	e := &envoyEntry{span: source.Span{Start: m[0], End: m[1]}, opened: text(3), closed: text(4), code: text(5), typeURL: text(6) + text(8), version: text(9)}
	e.time, _ = time.Parse("2006-01-02 15:04:05", text(1)+" "+text(2)) // the expression is as strict, but for hours
	if m[2*7] >= 0 {
		e.request = f.Text[m[2*7]:m[2*7+1]]
		if n := nonceField().FindAllSubmatch(e.request, -1); n != nil {
			e.nonce = string(n[len(n)-1][1])
		}
	}
	return e
}

var nonceField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`response_nonce: "((?:[^"\\]|\\.)*)"`) })

// envoyLog reads entries.
type envoyLog struct {
	reader
	file    *source.File
	entries []*envoyEntry
	open    map[string]int // the numbers of streams, by method
	several map[string]bool
	opened  int
	feed    func(*protocol.Event)
}

// match gives each response its nonce, which is not logged: the next request for the type has it. A response that is
// followed by another one before that gets one of its own.
func (l *envoyLog) match() {
	next := map[string]string{}
	for i := len(l.entries) - 1; i >= 0; i-- {
		switch e := l.entries[i]; {
		case e.opened+e.closed != "":
			maps.DeleteFunc(next, func(url, _ string) bool {
				return e.opened+e.closed == rpc(ads) || e.opened+e.closed == rpc(Method(protocol.Opened{TypeURL: url}))
			})
		case e.request != nil:
			next[e.typeURL] = e.nonce
		default:
			if e.nonce = next[e.typeURL]; e.nonce == "" {
				e.nonce = fmt.Sprint("not logged: ", i)
			}
			delete(next, e.typeURL)
		}
	}
}

func (l *envoyLog) entry(e *envoyEntry) error {
	switch {
	case e.opened != "":
		if l.open[e.opened] > 0 { // there are several, of which the log does not say which one it is about
			l.several[e.opened] = true
			return l.close(e, e.opened, "")
		}
		if l.several[e.opened] || strings.HasPrefix(e.opened, "Delta") || methodOf(e.opened) == "" {
			return nil
		}
		l.opened++
		l.open[e.opened] = l.opened
		return l.event(e, Line{Stream: l.opened, Opened: &Opened{Method: methodOf(e.opened)}})
	case e.closed != "":
		code := "Unavailable"
		if e.code == "0" {
			code = "OK"
		}
		return l.close(e, e.closed, code)
	case e.request != nil:
		body, err := e.body()
		if err != nil {
			return l.message(e, Line{Unreadable: err.Error()})
		}
		return l.message(e, Line{Request: body})
	}
	body, err := json.Marshal(map[string]any{"type_url": e.typeURL, "version_info": e.version, "nonce": e.nonce, "resources": []any{struct{}{}}})
	if err != nil {
		return err
	}
	return l.message(e, Line{Response: body, LeftOut: []int{0}})
}

func (l *envoyLog) close(e *envoyEntry, method, code string) error {
	number := l.open[method]
	delete(l.open, method)
	if number == 0 {
		return nil
	}
	return l.event(e, Line{Stream: number, Closed: &Closed{Code: code}})
}

// message feeds a message of the stream that its type is on.
func (l *envoyLog) message(e *envoyEntry, line Line) error {
	method := rpc(Method(protocol.Opened{TypeURL: e.typeURL}))
	if _, own := l.open[method]; !own && !l.several[method] {
		method = rpc(ads)
	}
	if line.Stream = l.open[method]; line.Stream == 0 {
		return nil
	}
	return l.event(e, line)
}

func (l *envoyLog) event(e *envoyEntry, line Line) error {
	line.Time = e.time
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	out, err := l.reader.event(text)
	if err != nil {
		return err
	}
	out.At = protocol.At{File: l.file, Span: e.span}
	l.feed(out)
	return nil
}

// rpc returns the name of a method without its service.
func rpc(method string) string { return method[strings.LastIndexByte(method, '/')+1:] }

// methodOf returns the method of SotW with a name; empty: none has it.
func methodOf(name string) string {
	if name == rpc(ads) {
		return ads
	}
	for _, kind := range graph.Kinds() {
		if method := Method(protocol.Opened{TypeURL: graph.TypeURL(kind)}); rpc(method) == name {
			return method
		}
	}
	return ""
}

// debugMark is in front of a message as text, so that no one relies on its form.
var debugMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^goo\.gle/\S+\s+`) })

// body returns a request in JSON, as recordings have it.
func (e *envoyEntry) body() (json.RawMessage, error) {
	text := debugMark().ReplaceAll(e.request, nil)
	all, err := syntax.ParseProtoText(&source.File{Text: text})
	if err != nil {
		return nil, errors.New("the request cannot be read")
	}
	q := map[string]any{}
	for _, field := range []string{"type_url", "version_info", "response_nonce"} {
		if n := all[0].Get(field); n != nil {
			q[field] = n.Text
		}
	}
	if n := all[0].Get("resource_names"); n != nil {
		q["resource_names"] = texts(n)
	}
	if n := all[0].Get("node"); n != nil {
		q["node"] = string(text[n.Start:n.End])
	}
	if n := all[0].Get("error_detail"); n != nil {
		q["error_detail"] = map[string]string{"message": texts(n.Get("message"))[0]}
	}
	return json.Marshal(q)
}

// texts returns the texts of a field, which is a list if the field is repeated.
func texts(n *tree.Node) []string {
	if n == nil {
		return []string{""}
	}
	if n.Kind != tree.List {
		return []string{n.Text}
	}
	var all []string
	for i := range n.Items {
		all = append(all, n.Items[i].Text)
	}
	return all
}
