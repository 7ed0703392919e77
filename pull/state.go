package pull

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
)

// subscriptions are what was requested and what was received, by type. They decide what to request; a transport sends and receives.
type subscriptions struct {
	server    Server
	types     graph.Types
	delta     bool                // the transport is Delta: only it has VHDS and LEDS
	separate  bool                // each kind has a stream of its own
	unserved  map[graph.Kind]bool // kinds for which the server does not have one
	kinds     map[graph.Kind]*typeState
	notes     map[string]bool
	elsewhere map[Elsewhere]bool
	late      bool // the deadline passed before everything was received
}

// typeState is the state of one kind.
type typeState struct {
	wanted    map[string]bool // names that resources refer to
	all       bool            // requested without names
	answered  bool            // since the last change of wanted or all
	version   string
	resources map[string]*resource
	denied    map[string]string // names that the server reports as missing, with its reason if it gave one
}

// resource is a resource and what it refers to.
type resource struct {
	Resource
	version string // Delta only
	refs    refs
}

func newSubscriptions(server Server, types graph.Types, delta bool) *subscriptions {
	s := &subscriptions{
		server: server, types: types, delta: delta, kinds: map[graph.Kind]*typeState{}, notes: map[string]bool{}, elsewhere: map[Elsewhere]bool{},
		unserved: map[graph.Kind]bool{},
	}
	s.state(graph.Cluster).all, s.state(graph.Listener).all = true, true
	return s
}

func (s *subscriptions) state(kind graph.Kind) *typeState {
	p := s.kinds[kind]
	if p == nil {
		p = &typeState{wanted: map[string]bool{}, resources: map[string]*resource{}, denied: map[string]string{}}
		s.kinds[kind] = p
	}
	return p
}

// asking lists the kinds that are or were requested, in Envoy's order: clusters before the kinds that use them.
func (s *subscriptions) asking() []graph.Kind {
	order := []graph.Kind{graph.Cluster, graph.ClusterLoadAssignment}
	for _, kind := range graph.Kinds() {
		if !slices.Contains(order, kind) {
			order = append(order, kind)
		}
	}
	return slices.DeleteFunc(order, func(kind graph.Kind) bool { return s.kinds[kind] == nil || s.unserved[kind] })
}

// response is a response of any transport.
type response struct {
	url     string
	version string
	whole   bool // state of the world: clusters and listeners that it does not contain are removed
	items   []item
	removed []string
	errors  []*discoveryv3.ResourceError // instead of resources (gRFC A88)
	// unserved: the server does not have a stream for the type, and says so.
	unserved error
}

// item is one resource of a response.
type item struct {
	name, version string // empty if the transport does not send them
	ttl           time.Duration
	body          *anypb.Any // nil: the resource does not exist, or only its TTL is renewed
}

// accept processes a response. What is invalid becomes a fault; the rest is used.
func (s *subscriptions) accept(r response) error {
	kind := graph.KindOf(decode.TypeName(r.url))
	p := s.kinds[kind]
	if p == nil {
		s.fault("the server sent %s, which was not requested", r.url)
		return nil
	}
	if r.unserved != nil {
		s.unserved[kind] = true
		s.fault("the server does not have a stream for %s: %s", kind, status.Convert(r.unserved).Message())
		s.subscribe()
		return nil
	}
	p.answered, p.version = true, r.version
	if r.whole && p.all {
		p.resources = map[string]*resource{}
	}
	for _, name := range r.removed {
		p.denied[name] = ""
		delete(p.resources, name)
	}
	for _, e := range r.errors {
		if name := e.GetResourceName().GetName(); p.resources[name] == nil {
			p.denied[name] = s.server.scrub(e.GetErrorDetail().GetMessage())
		}
	}
	var fresh []opened
	for _, it := range r.items {
		if e := s.resource(kind, p, it); e.resource != nil {
			p.resources[e.Name] = e.resource
			delete(p.denied, e.Name)
			fresh = append(fresh, e)
		}
	}
	s.follow(kind, fresh)
	s.subscribe()
	return s.checkSize()
}

// resource decodes the resource in an item. The result has none if the item does not contain one.
func (s *subscriptions) resource(kind graph.Kind, p *typeState, it item) (e opened) {
	if it.body != nil && decode.TypeName(it.body.GetTypeUrl()) == resourceName {
		s.unwrap(&it)
	}
	if it.body == nil {
		if it.name != "" && p.resources[it.name] == nil {
			p.denied[it.name] = ""
		}
		return e
	}
	if got := graph.KindOf(decode.TypeName(it.body.GetTypeUrl())); got != kind {
		s.fault("the server sent a %q among the resources of kind %s", it.body.GetTypeUrl(), kind)
		return e
	}
	e.message, e.contents = s.open(it.body)
	if it.name == "" && e.message != nil { // without a name in the item, the message has it; what cannot be decoded is kept as it is
		it.name = graph.NameOf(e.message.ProtoReflect())
	}
	e.resource = &resource{Resource: Resource{Name: it.name, TTL: it.ttl, Body: it.body}, version: it.version}
	return e
}

const resourceName protoreflect.FullName = "envoy.service.discovery.v3.Resource"

// unwrap takes a resource out of the wrapper in which servers send TTLs.
func (s *subscriptions) unwrap(it *item) {
	wrapper := &discoveryv3.Resource{}
	if err := it.body.UnmarshalTo(wrapper); err != nil {
		s.fault("a %s cannot be decoded", resourceName)
		it.body = nil
		return
	}
	*it = wrapped(wrapper)
}

func wrapped(r *discoveryv3.Resource) item {
	return item{name: r.GetName(), version: r.GetVersion(), ttl: r.GetTtl().AsDuration(), body: r.GetResource()}
}

// maxFaults bounds how many faults are kept: a server can send any number.
const maxFaults = 50

func (s *subscriptions) fault(format string, args ...any) {
	if len(s.notes) < maxFaults {
		s.notes[oneLine(s.server.scrub(fmt.Sprintf(format, args...)))] = true
	}
}

// checkSize limits the size of all resources.
func (s *subscriptions) checkSize() error {
	size := 0
	for _, p := range s.kinds {
		for _, e := range p.resources {
			size += len(e.Body.GetValue())
		}
	}
	if size > MaxTotal {
		return fmt.Errorf("the server sends too much: its resources are larger than %d MiB", MaxTotal>>20)
	}
	return nil
}

// settled reports whether everything that was requested was received, or is known not to exist.
func (s *subscriptions) settled() bool {
	for kind, p := range s.kinds {
		if len(p.missing(kind)) > 0 {
			return false
		}
	}
	return true
}

// missing lists the names that were not answered. An empty name stands for the whole kind.
func (p *typeState) missing(kind graph.Kind) []string {
	if p.all && !p.answered {
		return []string{""}
	}
	var names []string
	for name := range p.wanted {
		if p.resources[name] == nil && !p.isDenied(name) && !(isCollection(kind, name) && p.answered) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (p *typeState) isDenied(name string) bool {
	_, ok := p.denied[name]
	return ok
}

// isCollection reports whether a name stands for all resources below it.
func isCollection(kind graph.Kind, name string) bool {
	return kind == graph.LbEndpoint && strings.HasSuffix(name, "/*")
}

// wants lists the names to request; none if the whole kind is requested.
func (p *typeState) wants() []string { return slices.Sorted(maps.Keys(p.wanted)) }

func (s *subscriptions) result() *Result {
	r := &Result{types: s.types, late: s.late, Faults: slices.Sorted(maps.Keys(s.notes))}
	if len(r.Faults) == maxFaults {
		r.Faults = append(r.Faults, "the server's messages have more faults")
	}
	for _, kind := range graph.Kinds() {
		p := s.kinds[kind]
		if p == nil || !p.all && len(p.wanted) == 0 && len(p.resources) == 0 {
			continue
		}
		set := Set{Kind: kind, Version: p.version}
		for _, name := range slices.Sorted(maps.Keys(p.resources)) {
			if p.keeps(kind, name) {
				set.Resources = append(set.Resources, p.resources[name].Resource)
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
	r.Elsewhere = slices.SortedFunc(maps.Keys(s.elsewhere), func(a, b Elsewhere) int {
		return strings.Compare(string(a.Kind)+"\x00"+a.Name+"\x00"+string(a.Source), string(b.Kind)+"\x00"+b.Name+"\x00"+string(b.Source))
	})
	return r
}

// keeps reports whether Envoy would use a resource. If it requests a kind by name, it ignores resources that it did not request.
func (p *typeState) keeps(kind graph.Kind, name string) bool {
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
