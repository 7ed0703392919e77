package graph

import (
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/kube"
	"github.com/xdslint/xdslint/internal/layered"
)

// Delivery is how a resource reaches the data plane. It decides what is rejected and what is silently ignored.
type Delivery uint8

// The ways of delivery.
const (
	OverXDS       Delivery = iota // over xDS: LDS, RDS, CDS …, by a stream or a file
	FromBootstrap                 // as part of the bootstrap
)

// State is a resource's state in a config_dump.
type State string

// The states in a /config_dump. Resources from elsewhere have none.
const (
	Active  State = "active"
	Warming State = "warming"
	Failed  State = "error" // the last update was rejected
)

// Resource is one message that xDS delivers under a name.
type Resource struct {
	Kind     Kind
	Name     string
	Message  proto.Message
	Contents Contents // of the Anys below Message
	Source   Source   // its server
	Delivery Delivery
	State    State
	Version  string        // of the resource or of its response; empty if not known
	TTL      time.Duration // after which the data plane removes it; 0: never

	File     *SourceFile // never nil
	Text     *Text       // what Message was decoded from; nil for binary and live input
	Problems []Problem
	Files    map[string]*DataFile // that its data sources name, as far as they were looked for

	// In a Kubernetes object:
	Object   *Object               // nil elsewhere
	Within   *Path                 // path in it of the resource, or of the text that it is part of: data["envoy.yaml"]
	Into     protoreflect.FullName // for a patch that is one value of a field of another message: that field
	Around   *Path                 // for a patch that is not a message: the field of Message that holds it, which the object does not have
	Fragment bool                  // it is merged into another message: absent fields say nothing
	Runs     *kube.Container       // of a Workload: what runs the bootstrap; of a Service: the first of these to which it sends traffic

	places atomic.Pointer[arena[Place]] // of Walk: many rules walk, and what refers to a place does so for all of them; nil: not needed yet

	linkOnce sync.Once
	linked   *links // never changed
	shape    *shape // nil: not known

	problemsOnce sync.Once
	problemsAt   map[string][]Problem // by their path
	problemsIn   map[string][]Problem // by the path of the message that they are in
}

// Outside reports whether this is not a resource of xDS, but a file that is not one, or a Kubernetes object that says how the bootstrap runs.
func (r *Resource) Outside() bool { return r.Kind == File || r.Kind == Workload || r.Kind == Service }

// DataFile is a file that a data source names, such as a certificate. No output may show its content.
type DataFile struct {
	Data    []byte
	Missing string // why it could not be read; empty: it was
}

// Locate returns the location of a field in the resource's file. It is the zero Location for input without text.
func (r *Resource) Locate(p *Path) Location {
	if r.Text == nil {
		return Location{}
	}
	return r.Text.Root().Locate(p)
}

// Assumptions are the user's statements about what exists outside a snapshot.
type Assumptions struct {
	Names  []Assumed // names that exist elsewhere
	Open   []Kind    // more of these exist than the snapshot holds
	Closed []Kind    // the snapshot holds all of these
}

// Assumed is a glob (MatchName) over the names of one kind that exist elsewhere.
type Assumed struct {
	Kind Kind
	Glob string
}

// Snapshot holds the resources that are judged together. Nothing is compared across snapshots.
type Snapshot struct {
	Name        string // the bootstrap's or config_dump's file; empty for loose resources
	Resources   []*Resource
	NoBootstrap bool   // the resources came without a bootstrap
	UserAgent   string // user_agent_name of the node that has the resources; empty: not known
	Assumptions Assumptions

	Subscriptions []*Subscription

	complete  map[scope]bool
	bootstrap *Resource
	rest      *bootstrapv3.Bootstrap // its message without the static resources; nil: there is none
	byKind    map[Kind][]*Resource
	byName    layered.Map[named, []*Resource]
	carried   layered.Map[named, []*Resource] // the resources that carry a name
	children  map[named][]*Resource           // by the part of the name before its last slash; nil: not needed yet
	from      layered.Map[*Resource, []*Edge]
	filters   *httpFilters
	uses      *uses
	lists     *lists
	unread    map[Kind]int // resources that could not be decoded as a whole
	onDemand  bool         // a filter may ask for clusters that nothing names
	dumped    bool
	versions  map[Kind]string
	identity  *identity
	delta     *Delta // nil: not made from another one
}

type scope struct {
	kind   Kind
	source Source
}

// Add puts resources into the snapshot.
func (s *Snapshot) Add(resources ...*Resource) { s.Resources = append(s.Resources, resources...) }

// Complete declares that the snapshot holds all resources of a kind that a source serves. With Anywhere, it holds all from any source. It must
// not be called after the snapshot was judged.
func (s *Snapshot) Complete(kind Kind, from Source) {
	if s.complete == nil {
		s.complete = map[scope]bool{}
	}
	s.complete[scope{kind, from}] = true
	s.delta = nil // the world differs too
}

// World is what a missing name means.
type World uint8

// The worlds, and what a dangling reference means in each.
const (
	Open     World = iota // nothing: the target may well exist
	Presumed              // probably a mistake
	Closed                // a mistake
)

// Opened reports whether the user declared that more of a kind exist than the snapshot holds.
func (s *Snapshot) Opened(kind Kind) bool { return slices.Contains(s.Assumptions.Open, kind) }

// World returns what it means if a name of this kind, served by this source, is missing in the snapshot.
func (s *Snapshot) World(kind Kind, from Source) World {
	switch {
	case s.Opened(kind):
		return Open
	case slices.Contains(s.Assumptions.Closed, kind):
		return Closed
	case kind == Cluster && s.onDemand:
		return Open
	case s.complete[scope{kind, from}] || s.complete[scope{kind, Anywhere}]:
		return Closed
	case s.NoBootstrap && from != Static && !isPath(from) && len(s.byKind[kind]) > 0:
		return Presumed
	}
	return Open
}

func isPath(from Source) bool { return len(from) > 5 && from[:5] == "path:" }

// MatchName reports whether a glob (path.Match) matches a resource's name. Its * and ? also match slashes, which names can have anywhere.
func MatchName(glob, name string) bool {
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
	ok, _ := path.Match(flat(glob), flat(name))
	return ok
}

// Literal returns the glob that matches only this name.
func Literal(name string) string { return literal.Replace(name) }

var literal = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// Assumes reports whether the user declared that the name exists elsewhere.
func (s *Snapshot) Assumes(kind Kind, name string) bool {
	for _, a := range s.Assumptions.Names {
		if a.Kind == kind && MatchName(a.Glob, name) {
			return true
		}
	}
	return false
}

// Find returns the resource that a name refers to, or nil if there is none. Of several it returns the first, which is
// the one that Envoy applies. Resources of the source itself come before those whose source is not known.
func (s *Snapshot) Find(kind Kind, from Source, name string) *Resource {
	var other *Resource
	for _, r := range s.Named(kind, name) {
		if r.State == Failed {
			continue
		}
		if from == Anywhere || r.Source == from {
			return r
		}
		if other == nil && r.Source == Anywhere {
			other = r
		}
	}
	return other
}

// Named returns the resources of a kind and a name, from anywhere.
func (s *Snapshot) Named(kind Kind, name string) []*Resource { return s.byName.Get(named{kind, name}) }

// Booted returns the resource of a kind and a name that the bootstrap holds, the first of several, or nil.
func (s *Snapshot) Booted(kind Kind, name string) *Resource {
	for _, r := range s.Named(kind, name) {
		if r.Delivery == FromBootstrap {
			return r
		}
	}
	return nil
}

// Dumped reports whether the snapshot is the config dump of a running Envoy, or a part of one.
func (s *Snapshot) Dumped() bool { return s.dumped }

// Agent returns UserAgent.
func (s *Snapshot) Agent() string { return s.UserAgent }

// Unread reports whether a resource of the kind has a part that could not be decoded.
func (s *Snapshot) Unread(kind Kind) bool { return s.unread[kind] > 0 }

// WithVersions returns the built snapshot as it is served with other versions: those of the kinds, instead of those of the resources.
func (s *Snapshot) WithVersions(versions map[Kind]string) *Snapshot {
	made := *s
	made.versions = versions
	return &made
}

// Version returns the version in which a resource is served; empty if it is not known. Only checks of pushes may depend on it.
func (s *Snapshot) Version(r *Resource) string {
	if version, ok := s.versions[r.Kind]; ok && r.Delivery == OverXDS {
		return version
	}
	return r.Version
}

// As returns a copy of the resource with another name and message.
func (r *Resource) As(name string, m proto.Message) *Resource {
	return &Resource{
		Kind: r.Kind, Name: name, Message: m, Contents: r.Contents, Source: r.Source, Delivery: r.Delivery, State: r.State,
		Version: r.Version, TTL: r.TTL, File: r.File, Text: r.Text, Files: r.Files,
		Object: r.Object, Within: r.Within, Into: r.Into, Around: r.Around, Fragment: r.Fragment,
	}
}

// Bootstrap returns the snapshot's bootstrap, without its static resources, and its resource. It returns nil and nil if there is none that
// could be read.
func (s *Snapshot) Bootstrap() (*bootstrapv3.Bootstrap, *Resource) {
	if s.rest == nil {
		return nil, nil
	}
	return s.rest, s.bootstrap
}

// boot makes a resource the snapshot's bootstrap.
func (s *Snapshot) boot(r *Resource) {
	s.bootstrap, s.rest = r, nil
	if b, ok := r.Message.(*bootstrapv3.Bootstrap); ok {
		s.rest = withoutStatic(b)
	}
}

// withoutStatic returns a copy of a bootstrap without its static resources. It shares all other messages.
func withoutStatic(b *bootstrapv3.Bootstrap) *bootstrapv3.Bootstrap {
	rest := &bootstrapv3.Bootstrap{}
	into := rest.ProtoReflect()
	b.ProtoReflect().Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if fd.Name() != "static_resources" {
			into.Set(fd, v)
		}
		return true
	})
	into.SetUnknown(b.ProtoReflect().GetUnknown())
	return rest
}

// Partial reports whether the resources came without a bootstrap: others may exist that were not given.
func (s *Snapshot) Partial() bool { return s.NoBootstrap }

// All returns the resources of the kinds, kind by kind, or all resources if none is named. Build must have been called. The
// caller must not change them.
func (s *Snapshot) All(kinds ...Kind) []*Resource {
	if len(kinds) == 0 {
		return s.Resources
	}
	return union(s.byKind, kinds)
}

// union returns what a map has of the kinds, kind by kind.
func union[T any](of map[Kind][]T, kinds []Kind) []T {
	if len(kinds) == 1 {
		return of[kinds[0]]
	}
	var all []T
	for _, kind := range kinds {
		all = append(all, of[kind]...)
	}
	return all
}

// Names returns the names of a kind in the order in which they were read.
func (s *Snapshot) Names(kind Kind) []string {
	var names []string
	for _, r := range s.byKind[kind] {
		names = append(names, r.Name)
	}
	return names
}
