package plugin

import (
	"maps"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/pluginabi"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/lint"
)

// question is the question to a plugin about a snapshot.
type question struct {
	pluginabi.Snapshot
	resources []*graph.Resource // by their indices in the Snapshot
	contents  []graph.Contents  // of the Anys in them
	types     map[string]bool   // of the messages that the plugin reads
	secret    bool              // part of the snapshot is in a Kubernetes Secret, of which nothing may be shown
}

var wire = proto.MarshalOptions{AllowPartial: true, Deterministic: true}

// newQuestion collects what a plugin may know about the snapshot of some passes.
func newQuestion(types map[string]bool, passes []*lint.Pass) *question {
	q := &question{types: types}
	q.Target = passes[0].Target.String()
	for _, pass := range passes {
		q.Rules = append(q.Rules, pass.Rule.ID())
	}
	index := map[*graph.Resource]uint32{}
	s := passes[0].Snapshot
	for _, r := range s.All() {
		if r.Message == nil || r.Fragment || r.Kind == graph.Patch || r.Kind == graph.File {
			continue // part of another resource, or not readable
		}
		index[r] = uint32(len(q.resources))
		q.resources, q.contents = append(q.resources, r), append(q.contents, contentsOf(r, s))
		q.secret = q.secret || r.Object.Secret()
		q.Resources = append(q.Resources, &pluginabi.Resource{
			Kind: string(r.Kind), Name: valid(r.Name), File: valid(r.File.Name), Type: string(r.Message.ProtoReflect().Descriptor().FullName()), Bootstrap: r.Delivery == graph.FromBootstrap,
		})
		q.messages(r, index[r])
	}
	for _, e := range s.References() {
		from, ok := index[e.From]
		if !ok {
			continue
		}
		reference := &pluginabi.Reference{From: from, Path: e.Path.String(), Kind: string(e.Kind), Name: valid(e.Target)}
		if to, ok := index[e.To]; ok {
			reference.To = &to
		}
		q.References = append(q.References, reference)
	}
	return q
}

// contentsOf returns the contents of the Anys in a resource. The message of a bootstrap also contains the static
// resources, which have their own contents.
func contentsOf(r *graph.Resource, s graph.View) graph.Contents {
	if r.Kind != graph.Bootstrap {
		return r.Contents
	}
	all := graph.Contents{}
	for _, other := range s.All() {
		if other.Delivery == graph.FromBootstrap {
			maps.Copy(all, other.Contents)
		}
	}
	return all
}

// messages adds the messages of the types that the plugin reads.
func (q *question) messages(r *graph.Resource, index uint32) {
	r.Walk(func(at *graph.Place) {
		name := string(at.Message.Descriptor().FullName())
		if !q.types[name] {
			return
		}
		value, err := wire.Marshal(redact.Place(at, q.contents[index]))
		if err != nil {
			return // a string that is not UTF-8, which a rule reports
		}
		q.Messages = append(q.Messages, &pluginabi.Message{Resource: index, Path: at.Path.String(), Type: name, Value: value})
	})
}

// valid returns a text as valid UTF-8, which protobuf requires.
func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
