package pull

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
)

// books are what has been asked for and what has come. The transports ask and carry, the books decide what.
type books struct {
	server Server
	types  graph.Types
	delta  bool // the transport speaks Delta: VHDS and LEDS exist there alone
	kinds  map[graph.Kind]*page
	notes  map[string]bool
	far    map[Elsewhere]bool
	late   bool // there was no time for all
}

// page is all about one kind.
type page struct {
	wanted   map[string]bool // names that somebody refers to
	all      bool            // asked for without names
	answered bool            // since wanted or all changed last
	version  string
	entries  map[string]*entry
	denied   map[string]string // names of which the server said that there is no resource, and why if it said so
}

// entry is a resource and what it refers to.
type entry struct {
	Resource
	version string // its own, of Delta
	refs    refs
}

func newBooks(server Server, types graph.Types, delta bool) *books {
	b := &books{
		server: server, types: types, delta: delta, kinds: map[graph.Kind]*page{}, notes: map[string]bool{}, far: map[Elsewhere]bool{},
	}
	b.page(graph.Cluster).all, b.page(graph.Listener).all = true, true
	return b
}

func (b *books) page(kind graph.Kind) *page {
	p := b.kinds[kind]
	if p == nil {
		p = &page{wanted: map[string]bool{}, entries: map[string]*entry{}, denied: map[string]string{}}
		b.kinds[kind] = p
	}
	return p
}

// asking lists the kinds that are asked for, or were, in Envoy's order: clusters before those who use them.
func (b *books) asking() []graph.Kind {
	order := []graph.Kind{graph.Cluster, graph.ClusterLoadAssignment}
	for _, kind := range graph.Kinds() {
		if !slices.Contains(order, kind) {
			order = append(order, kind)
		}
	}
	return slices.DeleteFunc(order, func(kind graph.Kind) bool { return b.kinds[kind] == nil })
}

// response is what any transport brings.
type response struct {
	url     string
	version string
	whole   bool // state of the world: of clusters and listeners, what is not in it is gone
	items   []item
	removed []string
	errors  []*discoveryv3.ResourceError // in place of resources (gRFC A88)
}

// item is one resource of a response.
type item struct {
	name, version string // empty where the transport does not say
	ttl           time.Duration
	body          *anypb.Any // nil: there is no such resource, or it lives on
}

// accept takes a response in. What does not fit becomes a fault, and the rest is taken all the same.
func (b *books) accept(r response) error {
	kind := graph.KindOf(decode.TypeName(r.url))
	p := b.kinds[kind]
	if p == nil {
		b.fault("the server sent %s, which nobody asked for", r.url)
		return nil
	}
	p.answered, p.version = true, r.version
	if r.whole && p.all {
		p.entries = map[string]*entry{}
	}
	for _, name := range r.removed {
		p.denied[name] = ""
		delete(p.entries, name)
	}
	for _, e := range r.errors {
		if name := e.GetResourceName().GetName(); p.entries[name] == nil {
			p.denied[name] = b.server.scrub(e.GetErrorDetail().GetMessage())
		}
	}
	var fresh []opened
	for _, it := range r.items {
		if e := b.entry(kind, p, it); e.entry != nil {
			p.entries[e.Name] = e.entry
			delete(p.denied, e.Name)
			fresh = append(fresh, e)
		}
	}
	b.follow(kind, fresh)
	b.subscribe()
	return b.weigh()
}

// entry makes an entry of a resource and opens it; there is none where no resource is in the item.
func (b *books) entry(kind graph.Kind, p *page, it item) (e opened) {
	if it.body != nil && decode.TypeName(it.body.GetTypeUrl()) == resourceName {
		b.unwrap(&it)
	}
	if it.body == nil {
		if it.name != "" && p.entries[it.name] == nil {
			p.denied[it.name] = ""
		}
		return e
	}
	if got := graph.KindOf(decode.TypeName(it.body.GetTypeUrl())); got != kind {
		b.fault("the server sent a %q among the resources of kind %s", it.body.GetTypeUrl(), kind)
		return e
	}
	e.message, e.contents = b.open(it.body)
	if it.name == "" && e.message != nil { // what cannot be read has no name of its own, and is kept as it is
		it.name = graph.NameOf(e.message.ProtoReflect())
	}
	e.entry = &entry{Resource: Resource{Name: it.name, TTL: it.ttl, Body: it.body}, version: it.version}
	return e
}

const resourceName protoreflect.FullName = "envoy.service.discovery.v3.Resource"

// unwrap takes a resource out of the wrapper that servers put it in to give it a time to live.
func (b *books) unwrap(it *item) {
	wrapper := &discoveryv3.Resource{}
	if err := it.body.UnmarshalTo(wrapper); err != nil {
		b.fault("the bytes of a %s are none", resourceName)
		it.body = nil
		return
	}
	*it = wrapped(wrapper)
}

func wrapped(r *discoveryv3.Resource) item {
	return item{name: r.GetName(), version: r.GetVersion(), ttl: r.GetTtl().AsDuration(), body: r.GetResource()}
}

// maxFaults bounds what is kept of them: a server can go on for ever.
const maxFaults = 50

func (b *books) fault(format string, args ...any) {
	if len(b.notes) < maxFaults {
		b.notes[oneLine(b.server.scrub(fmt.Sprintf(format, args...)))] = true
	}
}

// weigh holds the server to a size.
func (b *books) weigh() error {
	size := 0
	for _, p := range b.kinds {
		for _, e := range p.entries {
			size += len(e.Body.GetValue())
		}
	}
	if size > MaxTotal {
		return fmt.Errorf("the server sends too much: its resources are larger than %d MiB", MaxTotal>>20)
	}
	return nil
}

// settled tells whether all that was asked for is there, or is known not to be.
func (b *books) settled() bool {
	for kind, p := range b.kinds {
		if len(p.missing(kind)) > 0 {
			return false
		}
	}
	return true
}

// missing lists what has not been answered, as names; an empty one stands for the whole kind.
func (p *page) missing(kind graph.Kind) []string {
	if p.all && !p.answered {
		return []string{""}
	}
	var names []string
	for name := range p.wanted {
		if p.entries[name] == nil && !p.isDenied(name) && !(isCollection(kind, name) && p.answered) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (p *page) isDenied(name string) bool {
	_, ok := p.denied[name]
	return ok
}

// isCollection tells whether a name stands for all resources below it.
func isCollection(kind graph.Kind, name string) bool {
	return kind == graph.LbEndpoint && strings.HasSuffix(name, "/*")
}

// wants lists the names that a kind is asked for; none where it is asked for all.
func (p *page) wants() []string { return slices.Sorted(maps.Keys(p.wanted)) }

func (b *books) result() *Result {
	r := &Result{types: b.types, late: b.late, Faults: slices.Sorted(maps.Keys(b.notes))}
	if len(r.Faults) == maxFaults {
		r.Faults = append(r.Faults, "there is more that is wrong with what the server sent")
	}
	for _, kind := range graph.Kinds() {
		p := b.kinds[kind]
		if p == nil || !p.all && len(p.wanted) == 0 && len(p.entries) == 0 {
			continue
		}
		set := Set{Kind: kind, Version: p.version}
		for _, name := range slices.Sorted(maps.Keys(p.entries)) {
			if p.keeps(kind, name) {
				set.Resources = append(set.Resources, p.entries[name].Resource)
			}
		}
		r.Sets = append(r.Sets, set)
		for _, name := range p.missing(kind) {
			r.Missing = append(r.Missing, Missing{Kind: kind, Name: name})
		}
		for _, name := range slices.Sorted(maps.Keys(p.denied)) {
			if p.wanted[name] {
				r.Missing = append(r.Missing, Missing{Kind: kind, Name: name, Denied: true, Why: p.denied[name]})
			}
		}
	}
	r.Elsewhere = slices.SortedFunc(maps.Keys(b.far), func(a, b Elsewhere) int {
		return strings.Compare(string(a.Kind)+"\x00"+a.Name+"\x00"+string(a.Source), string(b.Kind)+"\x00"+b.Name+"\x00"+string(b.Source))
	})
	return r
}

// keeps tells whether Envoy would look at a resource: it ignores those of a kind asked for by name that it did not ask for.
func (p *page) keeps(kind graph.Kind, name string) bool {
	if p.all || p.wanted[name] {
		return true
	}
	for wanted := range p.wanted {
		if isCollection(kind, wanted) && strings.HasPrefix(name, strings.TrimSuffix(wanted, "*")) {
			return true
		}
	}
	return false
}
