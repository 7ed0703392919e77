package protocol

import (
	"fmt"
	"strings"
	"time"
)

// Finding is a breach of a clause: the first one of a type on a stream.
type Finding struct {
	Clause  *Clause
	At      At
	Stream  Opened
	TypeURL string // of the type on the stream
	Value   string // what the message is about, to find it in the line; may be empty
	Message string
	Related []Related
	Again   int // later breaches of the clause, of the same type on the same stream
}

// Related is another event that a finding refers to.
type Related struct {
	At      At
	Message string
}

// Patience is how long a server has to answer, unless the checker says otherwise: after it, clients take a resource to
// be missing.
const Patience = 15 * time.Second

// Checker judges events. It is a state machine for each stream and each type on it, without a clock of its own.
type Checker struct {
	// Patience is how long a server has to answer.
	Patience time.Duration
	// Clients: the clients are under test, and are known to run. Otherwise it is the server.
	Clients bool

	found   []*Finding
	first   map[breach]*Finding
	streams map[string]*stream
	open    []*stream // in the order in which they were opened
	recent  []*stream // that have ended a short time ago
	waits   waits
	events  int
	// lastByType has the number of the last response of a type, on any stream.
	lastByType map[string]int
	skipped    map[string]bool // streams whose beginning is not recorded
	clients    map[clientKey]*client
	gone       []absence // in the order of their times
	tested     map[Tested]bool
	trial      bool // a breach is not reported, but noted in late
	late       bool
}

// breach identifies what is reported once.
type breach struct {
	clause *Clause
	ch     *channel
}

// NewChecker returns a checker that has seen nothing.
func NewChecker() *Checker {
	return &Checker{
		Patience: Patience, first: map[breach]*Finding{}, streams: map[string]*stream{}, lastByType: map[string]int{}, skipped: map[string]bool{},
		tested: map[Tested]bool{}, clients: map[clientKey]*client{},
	}
}

// Findings returns what was found, in the order in which it became certain.
func (c *Checker) Findings() []*Finding { return c.found }

// report adds a finding about a type on a stream, or counts it.
func (c *Checker) report(ch *channel, f Finding) {
	if c.trial {
		c.late = true
		return
	}
	f.Stream, f.TypeURL = ch.s.Opened, ch.typeURL
	key := breach{f.Clause, ch}
	if before := c.first[key]; before != nil {
		before.Again++
		return
	}
	c.first[key] = &f
	c.found = append(c.found, &f)
}

// Unjudged returns the number of streams that were not judged, since the recording does not have their beginning.
func (c *Checker) Unjudged() int { return len(c.skipped) }

// Feed judges the next event.
func (c *Checker) Feed(e *Event) {
	c.events++
	c.Expire(e.Time)
	s := c.streams[e.Stream]
	switch {
	case e.Opened != nil:
		s = &stream{Opened: *e.Opened, id: e.Stream, channels: map[string]*channel{}, waits: map[*wait]bool{}}
		c.streams[e.Stream] = s
		c.open = append(c.open, s)
	case s == nil:
		c.skipped[e.Stream] = true
	case e.Closed != nil:
		c.close(s, e)
	case e.NotModified:
		s.channel("").polling.waiting = 0
	case e.Request != nil:
		c.request(s, e)
	case e.Response != nil:
		c.response(s, e)
	}
}

// End judges what is left when the recording ends. Another one may follow.
func (c *Checker) End() {
	for _, s := range c.open {
		c.ended(s)
		c.conclude(s)
	}
	c.streams, c.open, c.recent, c.waits, c.lastByType = map[string]*stream{}, nil, nil, nil, map[string]int{}
	c.clients, c.gone = map[clientKey]*client{}, nil
}

func (c *Checker) close(s *stream, e *Event) {
	for _, ch := range s.ordered {
		m := &moment{Checker: c, s: s, ch: ch, event: e}
		for _, clause := range Clauses() {
			if clause.onClose != nil {
				m.clause = clause
				clause.onClose(m)
			}
		}
	}
	c.leave(s, e)
	c.ended(s)
	c.conclude(s)
	s.closed, s.ended = true, e.Time
	c.recent = append(c.recent, s)
	delete(c.streams, s.id)
	for i := range c.open {
		if c.open[i] == s {
			c.open = append(c.open[:i:i], c.open[i+1:]...)
			break
		}
	}
}

// ended reports what is only certain when nothing more comes.
func (c *Checker) ended(s *stream) {
	for _, ch := range s.ordered {
		c.endLoop(ch)
	}
}

func (c *Checker) request(s *stream, e *Event) {
	ch := s.channel(e.Request.TypeURL)
	c.meet(s, e.Request.Node)
	if s.node == "" {
		s.node = e.Request.Node
	}
	m := &moment{Checker: c, s: s, ch: ch, event: e, request: e.Request}
	for _, clause := range Clauses() {
		if clause.onRequest != nil {
			m.clause = clause
			clause.onRequest(m)
		}
	}
	ch.ask(e)
	ch.asking = c.events
	s.requests++
}

func (c *Checker) response(s *stream, e *Event) {
	ch := s.channel(e.Response.TypeURL)
	m := &moment{Checker: c, s: s, ch: ch, event: e, response: e.Response, repeats: c.repeated(ch, e.Response)}
	for _, clause := range Clauses() {
		if clause.onResponse != nil {
			m.clause = clause
			clause.onResponse(m)
		}
	}
	ch.sent(e, c.events)
	c.lastByType[ch.typeURL] = c.events
}

// moment is an event, and the state before it.
type moment struct {
	*Checker
	s      *stream
	ch     *channel
	event  *Event
	clause *Clause

	request  *Request // or
	response *Response
	repeats  repeat // of a response: whether it is the last one once more
}

// breach reports that the event breaks the clause. The value is in the event's line.
func (m *moment) breach(value, format string, args ...any) {
	m.report(m.ch, Finding{Clause: m.clause, At: m.event.At, Value: value, Message: fmt.Sprintf(format, args...)})
}

// breachAfter reports a breach, together with an earlier event.
func (m *moment) breachAfter(before At, why, value, format string, args ...any) {
	m.report(m.ch, Finding{
		Clause: m.clause, At: m.event.At, Value: value, Message: fmt.Sprintf(format, args...),
		Related: []Related{{before, why}},
	})
}

// short returns the name of a type without its package.
func short(typeURL string) string {
	return typeURL[strings.LastIndexByte(typeURL, '.')+1:]
}
