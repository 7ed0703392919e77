package conform

import (
	"slices"
	"time"

	"github.com/xdslint/xdslint/graph"
)

// add lets the server add something, and returns what it is.
func (p *play) add() []resource {
	added := p.serve("add", "")
	p.settle()
	p.witness()
	return added
}

// change changes a resource, and lets the clients get it.
func (p *play) change(action string, r resource) {
	p.serve(action, r.String())
	p.settle()
	p.witness()
}

// serve changes what the server serves, and waits until it does. It returns what the server did not serve before.
func (p *play) serve(action, name string) (added []resource) {
	if err := p.Change(p.ctx, action, name); err != nil {
		p.note("%s %s: %v", action, name, err)
		return nil
	}
	var last world
	for began := time.Now(); time.Since(began) < p.Wait && p.ctx.Err() == nil; p.listen() {
		now, missing, err := p.discover(p.ctx, min(p.Wait, 10*p.silence()))
		if err != nil || same(now, p.world) {
			continue
		}
		if len(missing) == 0 || same(now, last) {
			return p.serves(now)
		}
		last = now // the rest may be late
	}
	if last != nil {
		return p.serves(last)
	}
	p.note("%s %s: the server serves what it served before", action, name)
	return nil
}

// serves notes what the server serves now, and returns what it did not serve before.
func (p *play) serves(now world) (added []resource) {
	added, p.world = now.without(p.world), now
	return added
}

// listen lets the clients talk for a moment.
func (p *play) listen() {
	select {
	case a := <-p.inbox:
		p.take(a)
	case <-time.After(p.silence()):
	case <-p.ctx.Done():
	}
}

func same(a, b world) bool {
	return len(a) == len(b) && len(a.without(b)) == 0 && len(a.changed(b)) == 0
}

// changed returns the resources of which another world has another content.
func (w world) changed(other world) (all []resource) {
	for r, content := range w {
		if before, ok := other[r]; ok && before != content {
			all = append(all, r)
		}
	}
	return all
}

// audience are clients that are subscribed in different ways: two like Envoy, one by name, and one that has unsubscribed.
func (p *play) audience() (envoy, named *client) {
	envoy, named = p.client(), p.client()
	twin := p.client()
	for _, c := range []*client{envoy, twin} {
		for _, kind := range p.asked() {
			c.like(kind)
		}
		p.settle()
	}
	p.each(func(kind graph.Kind, names []string) { named.subscribe(kind, names...) })
	former := p.client()
	p.each(func(kind graph.Kind, names []string) { former.subscribe(kind, names[0]) })
	p.each(func(kind graph.Kind, names []string) { former.unsubscribe(kind, names[0]) })
	p.each(func(kind graph.Kind, names []string) { former.subscribe(kind, names[1:]...) })
	return envoy, named
}

// changes adds something, changes it and something older, and deletes it.
func changes(p *play) {
	envoy, named := p.audience()
	older := p.firsts()
	added := p.add()
	for _, r := range added {
		named.subscribe(r.kind, r.name)
		if !wildcard(r.kind) {
			envoy.subscribe(r.kind, r.name)
		}
	}
	p.settle()
	for _, r := range append(added, older...) {
		p.change("change", r)
		if r.kind == graph.Cluster && !p.delta { // like Envoy, which warms the cluster up
			envoy.subscribe(graph.ClusterLoadAssignment)
			p.settle()
		}
	}
	p.remove(added)
}

// firsts returns one resource of each kind.
func (p *play) firsts() (all []resource) {
	for _, kind := range p.world.named() {
		all = append(all, resource{kind, p.world.names(kind)[0]})
	}
	return all
}

// remove deletes what was added: first what refers to others.
func (p *play) remove(added []resource) {
	for _, kind := range slices.Concat(kinds[2:], kinds[:2]) { // listeners and routes before clusters
		for _, r := range added {
			if r.kind == kind {
				p.drop(r)
			}
		}
	}
}

// drop deletes a resource. One that nothing refers to any longer is not seen: it may be removed already, or still be there.
func (p *play) drop(r resource) {
	if _, ok := p.world[r]; ok {
		p.change("delete", r)
		return
	}
	_ = p.Change(p.ctx, "delete", r.String()) // fails if it is removed already
	p.settle()
}

// confused changes something after a client has sent nonces that the server never sent.
func confused(p *play) {
	c := p.client()
	p.each(func(kind graph.Kind, _ []string) { c.like(kind) })
	p.each(c.confuse)
	for _, r := range p.firsts() {
		p.change("change", r)
	}
}

// left changes something after clients have unsubscribed from their only name, from one of several, and from the wildcard.
// The wait is for a server that may still have sent what it did not know to be unwanted.
func left(p *play) {
	none, some, single, envoy := p.client(), p.client(), p.client(), p.client()
	p.each(func(kind graph.Kind, names []string) { none.subscribe(kind, names[0]) })
	p.each(func(kind graph.Kind, names []string) { none.unsubscribe(kind, names[0]) })
	p.each(func(kind graph.Kind, names []string) { some.subscribe(kind, names...) })
	p.each(func(kind graph.Kind, names []string) { some.unsubscribe(kind, names[0]) })
	p.wild(func(kind graph.Kind, _ []string) { single.subscribe(kind, "*") })
	p.wild(func(kind graph.Kind, _ []string) { single.unsubscribe(kind, "*") })
	p.wild(func(kind graph.Kind, names []string) { single.subscribe(kind, names[0]) })
	p.each(func(kind graph.Kind, _ []string) { envoy.like(kind) })
	for began := time.Now(); time.Since(began) <= p.Wait && p.ctx.Err() == nil; {
		p.listen()
	}
	for range 2 {
		for _, kind := range p.world.named() {
			names := p.world.names(kind)
			p.change("change", resource{kind, names[len(names)-1]})
			p.change("change", resource{kind, names[0]})
		}
	}
}

// away changes something while a client is not connected, and deletes something.
func away(p *play) {
	envoy, named := p.audience()
	for _, r := range p.firsts() {
		for _, c := range []*client{envoy, named} {
			c.close()
			p.change("change", r)
			c.reconnect()
			p.settle()
			p.witness()
		}
	}
	added := p.add()
	envoy.close()
	p.remove(added)
	envoy.reconnect()
	p.settle()
	p.witness()
}

// unwanted changes something while a client rejects, and once more.
func unwanted(p *play) {
	envoy, _ := p.audience()
	for _, r := range p.firsts() {
		s := envoy.of(r.kind)
		envoy.rejects, s.rejected = 1, 0
		p.change("change", r)
		envoy.rejects = 0
		p.change("change", r)
	}
}

// unread changes something while the only client does not read.
func unread(p *play) {
	c := p.client()
	p.each(func(kind graph.Kind, _ []string) { c.like(kind) })
	c.reads <- struct{}{}
	firsts := p.firsts()
	for n := range 3 * len(firsts) {
		before := p.world
		p.serve("change", firsts[n%len(firsts)].String())
		if same(before, p.world) {
			break // the server waits for the client
		}
	}
	<-c.reads
	p.witness()
}

// early subscribes to names before they exist.
func early(p *play) {
	added := p.add()
	p.remove(added)
	for range 2 { // the first that gets something shows what the other lacks
		c := p.client()
		p.each(func(kind graph.Kind, names []string) { c.subscribe(kind, names...) })
		for _, r := range added {
			c.subscribe(r.kind, r.name)
		}
	}
	p.settle()
	for _, r := range added {
		if _, ok := p.world[r]; !ok {
			p.change("add", r)
		}
	}
	p.remove(added)
}
