package protocol

import (
	"maps"
	"slices"
	"time"
)

// clientKey identifies a client by its node, and a kind of streams that it opens.
type clientKey struct {
	node   string
	opened Opened
}

// client is what is known about the streams of a kind that a client has had.
type client struct {
	open     int
	shared   bool             // several clients have the node: what one does says nothing about another one
	past     map[string]*past // by type: how it was when its last stream ended
	failures []time.Time      // the ends of its last streams, if nothing was answered on them
	ended    bool             // it has ended the last stream instead of answering
}

// past is a type on a stream that has ended.
type past struct {
	at       At
	time     time.Time
	event    int
	server   bool // the server has ended the stream
	wildcard bool
	names    []string
	versions bool // the client has accepted something
}

// absence is a client whose streams the server has ended, and that has not opened another one.
type absence struct {
	client *client
	m      *moment
	until  time.Time
}

// meet takes the first request of a stream into the state: it says whose stream it is.
func (c *Checker) meet(s *stream, node string) {
	if s.requests > 0 || node == "" || s.REST {
		return
	}
	key := clientKey{node, s.Opened}
	if c.clients[key] == nil {
		c.clients[key] = &client{past: map[string]*past{}}
	}
	s.client = c.clients[key]
	s.client.open++
	s.client.shared = s.client.shared || s.client.open > 1
	c.gone = slices.DeleteFunc(c.gone, func(a absence) bool { return a.client == s.client })
}

// leave takes the end of a stream into the state.
func (c *Checker) leave(s *stream, e *Event) {
	if s.client == nil {
		return
	}
	s.client.open--
	s.client.ended = slices.ContainsFunc(s.ordered, func(ch *channel) bool { return ch.endedInstead(e) })
	for _, ch := range s.ordered {
		if ch.requests > 0 && ch.typeURL != "" { // a request without a type asks for nothing
			s.client.past[ch.typeURL] = ch.past(e, c.events)
		}
	}
}

func (ch *channel) past(e *Event, event int) *past {
	p := &past{at: e.At, time: e.Time, event: event, server: e.Closed.Server, wildcard: ch.wildcard, names: slices.Sorted(maps.Keys(ch.asked))}
	p.versions = !ch.s.Delta && ch.accepted != ""
	for name := range ch.known {
		p.versions = p.versions || ch.subscribed(name)
	}
	for name, h := range ch.held {
		p.versions = p.versions || ch.s.Delta && ch.subscribed(name) && h.version != "" && ch.replies[h.response-1].accepted
	}
	return p
}

// miss reports the clients that have been away for too long.
func (c *Checker) miss(now time.Time) {
	for len(c.gone) > 0 && c.gone[0].until.Before(now) {
		m := c.gone[0].m
		c.gone = c.gone[1:]
		m.breach("", "the server has ended the stream, and the client has not opened another one for %s", seconds(Slowness*c.Patience))
	}
}
