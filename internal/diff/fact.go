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

// fact is one thing that is so for traffic. Two facts about the same are equal if their exact values are, and nothing differs in their
// messages.
type fact struct {
	where Where
	what  string
	value string // as people read it
	exact string // what tells it from others; without one it is the value
	// message is compared field by field, without those in skip.
	message held
	skip    fields
	// part: a detail of something, and only of interest where both sides have that.
	part bool
	// exists: the place is there because of this fact.
	exists bool
	// told is the fact that says it already where a field of the message comes or goes.
	told string
	// unknown: the snapshot does not hold what this is about.
	unknown bool
}

type fields map[protoreflect.FullName]bool

type key struct {
	where Where
	what  string
}

// held is a message with the resource that it is in, which knows what its Anys hold.
type held struct {
	in      *graph.Resource
	message proto.Message
}

// open returns what an Any of the same resource holds; nil if that is not known.
func (h held) open(a *anypb.Any) held {
	if a == nil || h.in == nil {
		return held{h.in, nil}
	}
	return held{h.in, h.in.Contents[a]}
}

// with is another message of the same resource.
func (h held) with(m proto.Message) held { return held{h.in, m} }

// digest tells the message from others.
func (h held) digest() string {
	if h.in == nil || h.message == nil || !h.message.ProtoReflect().IsValid() {
		return ""
	}
	// An error leaves bytes that are as good: those of what could be written.
	bytes, _ := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(h.in.CanonicalOf(h.message))
	return fmt.Sprintf("%x", sha256.Sum256(bytes))
}

// side is one of the two snapshots, and its facts.
type side struct {
	snapshot  *graph.Snapshot
	listeners []*listener
	clusters  []*graph.Resource
	renamed   map[string]string // clusters whose name is another one in the new snapshot
	facts     []*fact
	byKey     map[key]*fact
	orders    map[Where][]ordered
	booted    map[Where]bool // places that stand in the bootstrap
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

// firsts lists the resources of a kind that a data plane would apply: of several with one name it is the first.
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

// reached lists the clusters that traffic comes to, by their new names. Where a request names its cluster it can be any.
func (s *side) reached(names map[string]bool) {
	any := s.anyCluster()
	for _, r := range s.clusters {
		if any || s.serves(r) {
			names[s.cluster(r.Name)] = true
		}
	}
}

// anyCluster tells whether a header or a plugin chooses the cluster somewhere.
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
		s.add(&fact{where: w, what: "", message: held{r, b}, part: true, skip: fields{
			"envoy.config.bootstrap.v3.Bootstrap.static_resources":            true,
			"envoy.config.bootstrap.v3.Bootstrap.DynamicResources.lds_config": true,
			"envoy.config.bootstrap.v3.Bootstrap.DynamicResources.cds_config": true,
		}})
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

// readTables is for snapshots without listeners.
func (s *side) readTables() {
	for _, r := range firsts(s.snapshot, graph.RouteConfiguration) {
		if m, ok := r.Message.(*routev3.RouteConfiguration); ok {
			s.note(r)
			s.table(Where{Table: r.Name}, held{r, m}, m)
		}
	}
}

// identity tells resources of a kind apart: secrets have names by what they hold.
func identity(r *graph.Resource) string {
	if m, ok := r.Message.(*tlsv3.Secret); ok {
		return fmt.Sprintf("%s\n%T", r.Name, m.GetType())
	}
	return r.Name
}

// add notes a fact. Of several about the same, which no data plane would take, none is lost.
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

// free returns a place that nothing is known about yet: the second route that matches the same is one of its own.
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

// cluster is the name that a cluster has in the new snapshot.
func (s *side) cluster(name string) string {
	if now, ok := s.renamed[name]; ok {
		return now
	}
	return name
}

// find returns the resource that a name means, and notes that its content is among the facts.
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

// short is a name without the namespaces that say nothing to people.
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
