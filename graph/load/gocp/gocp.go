package gocp

import (
	"errors"
	"fmt"
	"maps"
	"slices"

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
	if None(s) {
		return nil, errors.New("there is no snapshot")
	}
	made, file := &graph.Snapshot{NoBootstrap: true}, &graph.SourceFile{Name: "snapshot"}
	for t := range types.UnknownType {
		url, err := cachev3.GetResponseTypeURL(t)
		if err != nil {
			return nil, err
		}
		kind := graph.KindOf(decode.TypeName(url))
		if kind == "" { // a type of go-control-plane only, such as the configuration of a rate limit service
			continue
		}
		if err := add(made, file, kind, url, s); err != nil {
			return nil, err
		}
	}
	made.Build()
	return made, nil
}

// None reports whether there is no snapshot, which includes a nil *cachev3.Snapshot.
func None(s cachev3.ResourceSnapshot) bool {
	made, ok := s.(*cachev3.Snapshot)
	return s == nil || ok && made == nil
}

func add(to *graph.Snapshot, file *graph.SourceFile, kind graph.Kind, url string, s cachev3.ResourceSnapshot) error {
	resources := s.GetResourcesAndTTL(url)
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		r, err := Resource(file, url, name, resources[name])
		if err != nil {
			return fmt.Errorf("%s %q is %w", kind, name, err)
		}
		r.Version = s.GetVersion(url)
		to.Add(r)
	}
	return nil
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
	if served.TTL != nil {
		r.TTL = *served.TTL
	}
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
