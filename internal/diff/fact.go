package diff

import (
	"crypto/sha256"
	"fmt"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/graph"
)

// fact is one property that matters for traffic. Two facts about the same property are equal if their exact values are equal and their messages
// do not differ.
type fact struct {
	where Where
	what  string
	value string // as people read it
	exact string // identifies the value; if empty, value does
	// message is compared field by field, without those in skip.
	message held
	skip    fields
	// part is set if the fact is a detail of something, and matters only if both sides have that.
	part bool
	// exists is set if the fact is that the place exists.
	exists bool
	// told names the fact that already reports fields of the message that are added or removed.
	told string
	// unknown is set if the snapshot does not hold what the fact is about.
	unknown bool
}

type fields map[protoreflect.FullName]bool

type key struct {
	where Where
	what  string
}

// held is a message with its resource, which has the contents of its Anys.
type held struct {
	in      *graph.Resource
	message proto.Message
}

// open returns the content of an Any of the same resource, or nil if it is not known.
func (h held) open(a *anypb.Any) held {
	if a == nil || h.in == nil {
		return held{h.in, nil}
	}
	return held{h.in, h.in.Contents[a]}
}

// with returns another message of the same resource.
func (h held) with(m proto.Message) held { return held{h.in, m} }

// digest identifies the content of the message.
func (h held) digest() string {
	if h.in == nil || h.message == nil || !h.message.ProtoReflect().IsValid() {
		return ""
	}
	// After an error, the bytes that could be written are sufficient.
	bytes, _ := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(h.in.CanonicalOf(h.message))
	return fmt.Sprintf("%x", sha256.Sum256(bytes))
}

// side is one of the two snapshots, and its facts.
type side struct {
	snapshot  *graph.Snapshot
	listeners []*listener
	clusters  []*graph.Resource
	renamed   map[string]string // clusters that have a different name in the new snapshot
	facts     []*fact
	byKey     map[key]*fact
	orders    map[Where][]ordered
	booted    map[Where]bool // places that are in the bootstrap
	seen      map[*graph.Resource]bool
	routes    map[*routev3.VirtualHost][]candidate
	dark      map[any]bool // the routes that are in a shadow
	shadowed  map[Where]*shadow
	lit       map[*graph.Resource]bool
}

func newSide(s *graph.Snapshot) *side {
	n := &side{
		snapshot: s, listeners: listenersOf(s), clusters: firsts(s, graph.Cluster),
		renamed: map[string]string{}, byKey: map[key]*fact{}, orders: map[Where][]ordered{}, booted: map[Where]bool{}, seen: map[*graph.Resource]bool{},
		routes: map[*routev3.VirtualHost][]candidate{}, dark: map[any]bool{}, shadowed: map[Where]*shadow{},
	}
	n.lit = n.litResources()
	return n
}

// firsts lists the resources of a kind that a data plane would apply: the first of several with the same name.
func firsts(s *graph.Snapshot, kind graph.Kind) []*graph.Resource {
	var all []*graph.Resource
	known := map[string]bool{}
	for _, r := range s.All(kind) {
		id := identity(r)
		if r.State == graph.Failed || r.Message == nil || r.Name != "" && known[id] {
			continue
		}
		known[id] = true
		all = append(all, r)
	}
	return all
}

// reached lists the clusters that get traffic, by their new names. If requests name their clusters, that is all of them.
func (s *side) reached(names map[string]bool) {
	any := s.anyCluster()
	for _, r := range s.clusters {
		if any || s.serves(r) {
			names[s.cluster(r.Name)] = true
		}
	}
}

// anyCluster reports whether a header or a plugin chooses the cluster anywhere.
func (s *side) anyCluster() bool {
	found := false
	for _, r := range s.snapshot.Resources {
		r.Walk(func(at *graph.Place) {
			switch m := at.Message.Interface().(type) {
			case *routev3.RouteAction:
				found = found || m.GetClusterHeader() != "" || m.GetClusterSpecifierPlugin() != "" || m.GetInlineClusterSpecifierPlugin() != nil
			case *routev3.WeightedCluster_ClusterWeight:
				found = found || m.GetClusterHeader() != ""
			case *routev3.RouteAction_RequestMirrorPolicy:
				found = found || m.GetClusterHeader() != ""
			}
		})
	}
	return found
}

// read gathers the facts: of all listeners, and of these clusters.
func (s *side) read(names places, clusters map[string]bool, tables bool) {
	if b, r := s.snapshot.Bootstrap(); b != nil {
		s.note(r)
		w := Where{Resource: string(graph.Bootstrap)}
		s.booted[w] = true
		s.add(&fact{where: w, what: "", message: held{r, b}, part: true, skip: apart})
	}
	for _, l := range s.listeners {
		s.readListener(l, names)
	}
	if tables {
		s.readTables()
	}
	for _, r := range s.clusters {
		if name := s.cluster(r.Name); clusters[name] {
			s.readCluster(r, Where{Cluster: name})
		}
	}
}

// apart are the fields of a bootstrap that are not compared: resources of their own, where they come from, and what an Envoy says of itself in its
// node (InstanceBase::initializeOrThrow), which only its config_dump shows.
var apart = fields{
	"envoy.config.bootstrap.v3.Bootstrap.static_resources":            true,
	"envoy.config.bootstrap.v3.Bootstrap.DynamicResources.lds_config": true,
	"envoy.config.bootstrap.v3.Bootstrap.DynamicResources.cds_config": true,
	"envoy.config.core.v3.Node.user_agent_name":                       true,
	"envoy.config.core.v3.Node.user_agent_version":                    true,
	"envoy.config.core.v3.Node.user_agent_build_version":              true,
	"envoy.config.core.v3.Node.extensions":                            true,
}

// readTables is for snapshots without listeners.
func (s *side) readTables() {
	for _, r := range firsts(s.snapshot, graph.RouteConfiguration) {
		if m, ok := r.Message.(*routev3.RouteConfiguration); ok {
			s.note(r)
			s.table(Where{Table: r.Name}, held{r, m}, m)
		}
	}
}

// identity identifies a resource within its kind. Secrets with different kinds of content can have the same name.
func identity(r *graph.Resource) string {
	if m, ok := r.Message.(*tlsv3.Secret); ok {
		return fmt.Sprintf("%s\n%T", r.Name, m.GetType())
	}
	return r.Name
}

// add records a fact. It keeps several facts about the same property, although no data plane would accept them.
func (s *side) add(f *fact) {
	if f.exact == "" {
		f.exact = f.value
	}
	what := f.what
	for n := 2; s.byKey[key{f.where, f.what}] != nil; n++ {
		f.what = fmt.Sprintf("%s (%d)", what, n)
	}
	s.byKey[key{f.where, f.what}] = f
	s.facts = append(s.facts, f)
}

// free returns a place without facts: the second route with the same match gets a separate place.
func (s *side) free(w Where, name *string, what string) Where {
	base := *name
	set := func(text string) Where {
		switch {
		case w.Endpoint != "":
			w.Endpoint = text
		case w.Route != "":
			w.Route = text
		default:
			w.Host = text
		}
		return w
	}
	for n := 2; s.byKey[key{set(*name), what}] != nil || s.shadowed[set(*name)] != nil; n++ {
		*name = fmt.Sprintf("%s (%d)", base, n)
	}
	return w
}

// cluster returns the name of a cluster in the new snapshot.
func (s *side) cluster(name string) string {
	if now, ok := s.renamed[name]; ok {
		return now
	}
	return name
}

// find returns the resource with a name, and records that facts cover its content.
func (s *side) find(kind graph.Kind, from graph.Source, name string) *graph.Resource {
	r := s.snapshot.Find(kind, from, name)
	s.note(r)
	return r
}

func (s *side) note(r *graph.Resource) {
	if r != nil {
		s.seen[r] = true
	}
}

// short returns a name without the namespaces that people do not need.
func short(name string) string {
	for _, prefix := range []string{
		"envoy.filters.http.", "envoy.filters.network.", "envoy.filters.listener.", "envoy.filters.udp.", "envoy.filters.udp_listener.",
		"envoy.transport_sockets.", "envoy.load_balancing_policies.", "envoy.clusters.",
	} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			return rest
		}
	}
	return name
}
