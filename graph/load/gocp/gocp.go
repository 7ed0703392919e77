// Package gocp makes a graph of what a go-control-plane cache serves.
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

// Snapshot makes a graph of all of Envoy's resources that s serves, by type and name. The graph is built, and holds the very messages of s:
// neither may be changed any more. What s lacks of a kind that it has some of is presumed missing; declare what is sure with
// graph.Snapshot.Complete. A resource that is not of the type under which s serves it is an error.
func Snapshot(s cachev3.ResourceSnapshot) (*graph.Snapshot, error) {
	if None(s) {
		return nil, errors.New("there is no snapshot")
	}
	made, file := &graph.Snapshot{Partial: true}, &graph.SourceFile{Name: "snapshot"}
	for t := range types.UnknownType {
		url, err := cachev3.GetResponseTypeURL(t)
		if err != nil {
			return nil, err
		}
		kind := graph.KindOf(decode.TypeName(url))
		if kind == "" { // of go-control-plane's own, such as the configuration of a rate limit service
			continue
		}
		if err := add(made, file, kind, url, s); err != nil {
			return nil, err
		}
	}
	made.Build()
	return made, nil
}

// None tells whether there is no snapshot: a nil *cachev3.Snapshot is none either.
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

// Resource makes the resource of what a snapshot serves under a type URL and a name, without a version. All of one snapshot belong to one
// file: rules compare within it. A message of another type is an error, and so is none; its text goes on after "is".
func Resource(file *graph.SourceFile, url, name string, served types.ResourceWithTTL) (*graph.Resource, error) {
	m := served.Resource
	if !is(m, url) {
		return nil, fmt.Errorf("a %T, which is no %s", m, decode.TypeName(url))
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

// is tells whether m is a message of the Go type for a type URL: a dynamic one would be changed by being read.
func is(m proto.Message, url string) bool {
	want, err := protoregistry.GlobalTypes.FindMessageByName(decode.TypeName(url))
	return err == nil && m != nil && m.ProtoReflect().IsValid() && m.ProtoReflect().Type() == want
}
