package cluster

import (
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "regex-invalid",
	Severity: lint.Error,
	Summary:  "a regular expression of a cluster is not valid for RE2",
	Links:    []string{"CompiledGoogleReMatcher (source/common/common/regex.cc)", "https://github.com/google/re2/wiki/Syntax"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *matcherv3.RegexMatcher) {
		if at.Resource().Kind == graph.Cluster && compiled(p, at.Place) {
			check.Regex(p, at, m)
		}
	}),
})

// compilers are the configurations inside a cluster whose regular expressions Envoy compiles with the cluster.
var compilers = map[protoreflect.FullName]bool{
	httpOptions: true,
	"envoy.extensions.load_balancing_policies.maglev.v3.Maglev":      true,
	"envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash": true,
}

func compiled(p *lint.Pass, place *graph.Place) bool {
	around := envoy.EnclosingAny(place)
	if around == nil {
		return true
	}
	content := place.Resource.Contents[around.Message.Interface()]
	return content != nil && compilers[content.ProtoReflect().Descriptor().FullName()] && envoy.Reads(p.Target.Extensions(), around)
}
