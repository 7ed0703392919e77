package cluster

import (
	"fmt"
	"slices"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "subset-fallback",
	Severity: lint.Error,
	Summary:  "the fallback keys of a subset selector are not a proper subset of its keys",
	Links:    []string{"SubsetSelector::SubsetSelector (source/extensions/load_balancing_policies/subset/subset_lb_config.cc)"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		x := p.Target.Extensions()
		for b := envoy.BalancingOf(x, at, c); b.Name != "" || b.Subset; b = b.Child(x) {
			subsets, where := b.Subsets(at, c)
			for i, s := range selectorsOf(subsets) {
				if len(s.keys) > 0 { // Envoy ignores one without keys
					checkFallback(p, where.Item("subset_selectors", i), s)
				}
			}
		}
	}),
})

// A selector makes a subset of the hosts for each combination of values of its keys.
type selector struct {
	keys, fewer []string
	fallback    protoreflect.EnumNumber
	single      bool
}

// The fallback policies of a selector that matter here.
const (
	anyEndpoint   protoreflect.EnumNumber = 2
	defaultSubset protoreflect.EnumNumber = 3
	keysSubset    protoreflect.EnumNumber = 4
)

func selectorsOf(subsets proto.Message) (all []selector) {
	for _, item := range dynamic.Items(subsets, "subset_selectors") {
		m := item.Message().Interface()
		s := selector{keys: set(dynamic.Items(m, "keys")), fewer: set(dynamic.Items(m, "fallback_keys_subset"))}
		if v, ok := dynamic.Value(m, "fallback_policy"); ok {
			s.fallback = v.Enum()
		}
		_, s.single = dynamic.Value(m, "single_host_per_subset")
		all = append(all, s)
	}
	return all
}

func set(values []protoreflect.Value) (all []string) {
	for _, v := range values {
		all = append(all, v.String())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func checkFallback(p *lint.Pass, at lint.At, s selector) {
	keys := at.Field("fallback_keys_subset")
	unknown := slices.IndexFunc(s.fewer, func(key string) bool { return !slices.Contains(s.keys, key) })
	switch {
	case s.fallback != keysSubset && len(s.fewer) > 0:
		p.Reject(keys.Key(), lint.Rejection{
			Message:  "fallback_keys_subset needs fallback_policy: KEYS_SUBSET",
			Help:     "write that policy, or remove the keys",
			Upstream: "fallback_keys_subset can be set only for KEYS_SUBSET fallback_policy",
		})
	case s.fallback != keysSubset:
	case len(s.fewer) == 0:
		p.Reject(at.Field("fallback_policy"), lint.Rejection{
			Message:  "KEYS_SUBSET needs fallback_keys_subset",
			Help:     "add fallback_keys_subset, with some of: " + strings.Join(s.keys, ", "),
			Upstream: "fallback_keys_subset cannot be empty",
		})
	case unknown >= 0:
		p.Reject(keys, lint.Rejection{
			Message:  fmt.Sprintf("the fallback key %q is not a key of the selector", s.fewer[unknown]),
			Help:     "choose from its keys: " + strings.Join(s.keys, ", "),
			Upstream: "fallback_keys_subset must be a subset of selector keys",
		})
	case len(s.fewer) == len(s.keys):
		p.Reject(keys, lint.Rejection{
			Message:  "the fallback has all keys of the selector, so it cannot match more",
			Help:     "remove at least one of them",
			Upstream: "fallback_keys_subset cannot be equal to keys",
		})
	}
}
