package recording

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/source"
)

// logged is what grpc-go logs about a stream (GRPC_GO_LOG_SEVERITY_LEVEL=info, GRPC_GO_LOG_VERBOSITY_LEVEL=99). A message
// is JSON, up to a line with its closing brace.
var logged = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d) [A-Z]+: .*\[xds-client (\S+)\] .*\[ads-stream (\S+)\] (ADS stream created|Shutdown ADS stream|ADS request sent: |ADS response received: )`)
})

// judgeLog feeds what a client has logged to a checker.
func judgeLog(ctx context.Context, f *source.File, c *protocol.Checker) error {
	l := &log{file: f, streams: map[string]*logStream{}, feed: c.Feed}
	l.reader = newReader()
	for _, m := range logged().FindAllSubmatchIndex(f.Text, -1) {
		if ctx.Err() != nil {
			return nil
		}
		if err := l.entry(m); err != nil {
			return placed(f, m[0], err)
		}
	}
	c.End()
	return nil
}

// log reads entries.
type log struct {
	reader
	file    *source.File
	streams map[string]*logStream
	opened  int
	feed    func(*protocol.Event)
}

// logStream is a stream of a client, one after the other.
type logStream struct {
	number int // 0: its beginning is not logged
	asked  map[string]bool
	// early are responses that are logged before the request that they answer, which is logged when it has been sent.
	early []*protocol.Event
}

const ads = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"

// entry reads the entry that a match of logged begins.
func (l *log) entry(m []int) error {
	text := func(i int) string { return string(l.file.Text[m[2*i]:m[2*i+1]]) }
	at, err := time.Parse("2006/01/02 15:04:05", text(1))
	if err != nil {
		return err
	}
	s := l.streams[text(2)+text(3)]
	if s == nil {
		s = &logStream{asked: map[string]bool{}}
		l.streams[text(2)+text(3)] = s
	}
	line := Line{Time: at, Stream: s.number}
	span := source.Span{Start: m[2*4], End: m[1]}
	switch what := text(4); what {
	case "ADS stream created":
		if s.number > 0 {
			if err := l.event(s, Line{Time: at, Stream: s.number, Closed: &Closed{}}, span); err != nil {
				return err
			}
		}
		l.opened++
		*s = logStream{number: l.opened, asked: map[string]bool{}}
		line.Stream, line.Opened = s.number, &Opened{Method: ads}
	case "Shutdown ADS stream":
		line.Closed = &Closed{}
	default:
		body, end := message(l.file.Text, m[1])
		span.End = end
		switch {
		case body == nil:
			line.Unreadable = "the message is not in JSON"
		case strings.HasPrefix(what, "ADS request"):
			line.Request = body
		default:
			line.Response = body
		}
	}
	return l.event(s, line, span)
}

// event feeds an event.
func (l *log) event(s *logStream, line Line, span source.Span) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	e, err := l.reader.event(text)
	if err != nil {
		return err
	}
	e.At = protocol.At{File: l.file, Span: span}
	if e.Response != nil && !s.asked[e.Response.TypeURL] {
		s.early = append(s.early, e)
		return nil
	}
	l.feed(e)
	if e.Request == nil || s.asked[e.Request.TypeURL] {
		return nil
	}
	s.asked[e.Request.TypeURL] = true
	rest := s.early[:0]
	for _, early := range s.early {
		if early.Response.TypeURL == e.Request.TypeURL {
			l.feed(early)
		} else {
			rest = append(rest, early)
		}
	}
	s.early = rest
	return nil
}

// message returns the JSON that begins at an offset, with the field names of the proto, and the offset of its end. It is
// nil if the message is not in JSON, or not complete.
func message(text []byte, at int) (body json.RawMessage, end int) {
	n := bytes.Index(text[at:], []byte("\n}\n"))
	if n < 0 || text[at] != '{' {
		return nil, at
	}
	end = at + n + len("\n}")
	body = lowerCamel().ReplaceAllFunc(text[at:end], func(key []byte) []byte {
		return capital().ReplaceAllFunc(key, func(c []byte) []byte { return append([]byte{'_'}, bytes.ToLower(c)...) })
	})
	if !json.Valid(body) {
		return nil, at
	}
	return body, end
}

// lowerCamel is a key that is the name of a field in protobuf's JSON.
var (
	lowerCamel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^ *"[a-z]+[a-z0-9]*([A-Z][a-z0-9]*)+": `) })
	capital    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Z]`) })
)
