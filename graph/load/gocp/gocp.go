package gocp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
)

// Snapshot returns a built graph of all of Envoy's resources in s, by type and name. The graph shares the messages of
// s: neither may be changed afterwards. If s has resources of a kind, a name of that kind that it lacks is presumed
// missing; use graph.Snapshot.Complete to declare that it is. It is an error if a resource does not have the type under
// which s serves it.
func Snapshot(s cachev3.ResourceSnapshot) (*graph.Snapshot, error) {
	made := &graph.Snapshot{NoBootstrap: true}
	if err := add(made, &graph.Snapshot{}, &graph.SourceFile{Name: "snapshot"}, s); err != nil {
		return nil, err
	}
	made.Build()
	return made, nil
}

// Update returns the graph of s, as Snapshot does. Resources whose messages are those of an earlier graph of a snapshot, not only equal ones, are
// taken from there: such graphs are compared, judged and planned at the cost of what differs.
func Update(earlier *graph.Snapshot, s cachev3.ResourceSnapshot) (*graph.Snapshot, error) {
	made, file := &graph.Snapshot{}, &graph.SourceFile{Name: "snapshot"}
	if len(earlier.Resources) > 0 {
		file = earlier.Resources[0].File
	}
	if err := add(made, earlier, file, s); err != nil {
		return nil, err
	}
	versions := map[graph.Kind]string{}
	for _, r := range made.Resources {
		versions[r.Kind] = s.GetVersion(graph.TypeURL(r.Kind))
	}
	return earlier.With(made.Resources).WithVersions(versions), nil
}

// add adds the resources of s to a graph that is not built.
func add(to, earlier *graph.Snapshot, file *graph.SourceFile, s cachev3.ResourceSnapshot) error {
	if None(s) {
		return errors.New("there is no snapshot")
	}
	for t := range types.UnknownType {
		url, err := cachev3.GetResponseTypeURL(t)
		if err != nil {
			return err
		}
		kind := graph.KindOf(decode.TypeName(url))
		if kind == "" { // a type of go-control-plane only, such as the configuration of a rate limit service
			continue
		}
		resources := s.GetResourcesAndTTL(url)
		for _, name := range slices.Sorted(maps.Keys(resources)) {
			r := earlier.Pushed(kind, name)
			if r == nil || r.Message != resources[name].Resource || r.TTL != ttlOf(resources[name]) {
				if r, err = Resource(file, url, name, resources[name]); err != nil {
					return fmt.Errorf("%s %q is %w", kind, name, err)
				}
				r.Version = s.GetVersion(url)
			}
			to.Add(r)
		}
	}
	return nil
}

func ttlOf(served types.ResourceWithTTL) time.Duration {
	if served.TTL == nil {
		return 0
	}
	return *served.TTL
}

// None reports whether there is no snapshot, which includes a nil *cachev3.Snapshot.
func None(s cachev3.ResourceSnapshot) bool {
	made, ok := s.(*cachev3.Snapshot)
	return s == nil || ok && made == nil
}

// Resource returns the resource that a snapshot serves under a type URL and a name, without a version. All resources of
// one snapshot must have the same file, since rules compare within a file. It is an error if the message has another
// type or is nil; the error's text continues after "is".
func Resource(file *graph.SourceFile, url, name string, served types.ResourceWithTTL) (*graph.Resource, error) {
	m := served.Resource
	if !is(m, url) {
		return nil, fmt.Errorf("a %T, not a %s", m, decode.TypeName(url))
	}
	r := &graph.Resource{Kind: graph.KindOf(decode.TypeName(url)), Name: name, Message: m, File: file}
	r.TTL = ttlOf(served)
	d := decode.NewDecoder(nil)
	d.Open(m)
	r.Contents, r.Problems = d.Contents, d.Problems
	return r, nil
}

// is reports whether m is a message of the Go type for a type URL. A dynamic message would change when it is read.
func is(m proto.Message, url string) bool {
	want, err := protoregistry.GlobalTypes.FindMessageByName(decode.TypeName(url))
	return err == nil && m != nil && m.ProtoReflect().IsValid() && m.ProtoReflect().Type() == want
}
