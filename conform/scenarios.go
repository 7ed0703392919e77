package conform

import (
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/graph"
)

var scenarios = []scenario{
	{name: "as Envoy does", run: asEnvoy},
	{name: "by name", run: byName},
	{name: "wildcards", run: wildcards},
	{name: "the same again", run: again},
	{name: "more in an answer", run: inAnswers},
	{name: "rejected", run: rejected},
	{name: "stale nonces", run: stale, only: func(t transport) bool { return !t.delta }},
	{name: "unknown nonces", run: unknown},
	{name: "reconnected", run: reconnected},
	{name: "many clients", run: many},
	{name: "slow reading", run: slow},
	{name: "changes", run: changes, changes: true},
	{name: "changes after unknown nonces", run: confused, changes: true},
	{name: "changes after a client has left", run: left, changes: true},
	{name: "changes while a client is away", run: away, changes: true},
	{name: "changes while a client rejects", run: unwanted, changes: true},
	{name: "changes while a client does not read", run: unread, changes: true},
	{name: "names that do not exist yet", run: early, changes: true},
}

// absent is a name that no server has.
const absent = "xdslint-conform-absent"

// asEnvoy asks for all kinds, one after the other. A second client asks for a single name that the server has not sent: it
// may send no more than some of many.
func asEnvoy(p *play) {
	c, single := p.client(), p.client()
	for _, kind := range p.asked() {
		c.like(kind)
		p.settle()
	}
	for _, kind := range p.asked() {
		if missing := p.missing[kind]; len(missing) > 0 && !wildcard(kind) {
			single.subscribe(kind, missing[len(missing)-1])
			p.settle()
		}
	}
}

// byName subscribes to one name after the other, to one that does not exist, and unsubscribes. A second client with the
// same names shows what the first one lacks.
func byName(p *play) {
	c := p.client()
	p.each(func(kind graph.Kind, names []string) { c.subscribe(kind, names[0]) })
	p.each(func(kind graph.Kind, names []string) { c.subscribe(kind, names[min(1, len(names)-1)]) })
	p.each(func(kind graph.Kind, names []string) { c.subscribe(kind, names...) })
	p.each(func(kind graph.Kind, _ []string) { c.subscribe(kind, absent) })
	p.each(func(kind graph.Kind, names []string) { c.unsubscribe(kind, names...) })
	p.each(func(kind graph.Kind, names []string) { c.subscribe(kind, names[len(names)-1]) })
	p.each(func(kind graph.Kind, names []string) { c.subscribe(kind, names[0]) })
	witness := p.client()
	p.each(func(kind graph.Kind, names []string) { witness.subscribe(kind, names...) })
	single := p.client()
	p.each(func(kind graph.Kind, names []string) { single.subscribe(kind, names[0]) })
	p.each(func(kind graph.Kind, names []string) { single.unsubscribe(kind, names[0]) })
}

// each calls f for each kind of which something exists, and waits for the answers.
func (p *play) each(f func(kind graph.Kind, names []string)) {
	for _, kind := range p.world.named() {
		f(kind, p.world.names(kind))
	}
	p.settle()
}

// wild calls f for the kinds of which Envoy asks for all. A client that connects then shows what others lack.
func (p *play) wild(f func(kind graph.Kind, names []string)) {
	for _, kind := range p.world.named() {
		if wildcard(kind) {
			f(kind, p.world.names(kind))
		}
	}
	p.settle()
	p.witness()
}

// wildcards uses the explicit form, with a name besides it, and unsubscribes from each.
func wildcards(p *play) {
	c := p.client()
	p.wild(func(kind graph.Kind, names []string) { c.subscribe(kind, "*", names[0]) })
	p.wild(func(kind graph.Kind, names []string) { c.unsubscribe(kind, names[0]) })
	p.wild(func(kind graph.Kind, names []string) { c.subscribe(kind, names[0]) })
	p.wild(func(kind graph.Kind, _ []string) { c.unsubscribe(kind, "*") })
	for range 2 { // a server that has answered once knows that the client has left the wildcard
		p.wild(func(kind graph.Kind, names []string) { c.subscribe(kind, names[len(names)-1]) })
		p.wild(func(kind graph.Kind, names []string) { c.unsubscribe(kind, names[len(names)-1]) })
	}
	p.wild(func(kind graph.Kind, names []string) { c.unsubscribe(kind, names...) })
	p.wild(func(kind graph.Kind, _ []string) { c.subscribe(kind, "*") })
}

// inAnswers subscribes to more in the answer to a response, as Envoy does. Over SotW, a second client shows what the first
// one lacks.
func inAnswers(p *play) {
	c := p.client()
	c.silent = true
	p.each(func(kind graph.Kind, names []string) { c.subscribe(kind, names[0]) })
	p.each(c.answerWith)
	c.answerNow()
	p.settle()
	if !p.delta {
		twin := p.client()
		p.each(func(kind graph.Kind, names []string) { twin.subscribe(kind, names...) })
	}
}

// again asks for the same names once more, and for each of them twice.
func again(p *play) {
	c := p.client()
	p.each(func(kind graph.Kind, names []string) { c.subscribe(kind, names...) })
	p.each(func(kind graph.Kind, names []string) { c.subscribe(kind, names...) })
	twice := p.client()
	p.each(func(kind graph.Kind, names []string) { twice.double(kind, names) })
}

// double subscribes with each name twice.
func (c *client) double(kind graph.Kind, names []string) {
	s := c.of(kind)
	s.names = append(slices.Clone(names), names...)
	c.request(s, s.names, nil)
	s.names = names
}

// rejections is how often a client rejects the responses of a type.
const rejections = 8

func rejected(p *play) {
	c := p.client()
	c.rejects = rejections
	for _, kind := range p.asked() {
		c.like(kind)
		p.settle()
	}
	c.rejects = 0
	p.each(func(kind graph.Kind, _ []string) {
		if !wildcard(kind) {
			c.subscribe(kind, absent)
		}
	})
}

// stale repeats a request with an older nonce, while the last response is on its way: a kind after the other, since the
// response about one can be the reason for one about another.
func stale(p *play) {
	for _, kind := range p.world.named() {
		c, names := p.client(), p.world.names(kind)
		c.subscribe(kind, names[0])
		p.settle()
		c.silent = true
		c.subscribe(kind, names...)
		p.settle()
		if s := c.of(kind); len(s.nonces) > 1 {
			c.send(s, c.sotw(s, s.nonces[len(s.nonces)-2]))
		}
		p.settle()
		c.answerNow()
		p.settle()
		c.close()
	}
}

// unknown sends nonces that the server never sent, and looks whether the subscription still works.
func unknown(p *play) {
	c := p.client()
	p.each(func(kind graph.Kind, _ []string) { c.like(kind) })
	p.each(c.confuse)
	p.each(func(kind graph.Kind, names []string) {
		if !wildcard(kind) {
			c.unsubscribe(kind, names[0])
			c.subscribe(kind, names[0])
		}
	})
	p.witness()
}

// confuse sends a nonce that the server never sent.
func (c *client) confuse(kind graph.Kind, _ []string) {
	s := c.of(kind)
	if c.delta {
		c.send(s, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: s.typeURL, ResponseNonce: absent})
		return
	}
	c.send(s, c.sotw(s, absent))
}

// reconnected opens the streams again, with the versions that the client has.
func reconnected(p *play) {
	c := p.client()
	p.each(func(kind graph.Kind, _ []string) { c.like(kind) })
	c.reconnect()
	p.settle()
	p.witness()
}

// many opens the streams of many clients at once.
func many(p *play) {
	for range 20 {
		c := p.client()
		for _, kind := range p.asked() {
			c.like(kind)
		}
	}
	p.settle()
}

// slow asks for more while it does not read.
func slow(p *play) {
	c := p.client()
	c.reads <- struct{}{}
	for range 5 {
		for _, kind := range p.world.named() {
			c.like(kind)
		}
	}
	<-c.reads
	p.settle()
}

// witness is another client of the node, which connects now: it shows what the others lack.
func (p *play) witness() {
	c := p.client()
	for _, kind := range p.asked() {
		c.like(kind)
	}
	p.settle()
	c.close()
}
