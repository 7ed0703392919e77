package route

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "hash-policy-mismatch",
	Severity: lint.Warning,
	Summary:  "only one of a route and its cluster uses hashes: the hash_policy, or the load balancing policy",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#envoy-v3-api-field-config-route-v3-routeaction-hash-policy",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/load_balancing/load_balancers#ring-hash",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, r *routev3.Route) {
		action := r.GetRoute()
		all, known := upstreamsOf(p, action)
		if !known || action.GetWeightedClusters().GetUseHashPolicy().GetValue() {
			return
		}
		hashing, ownHash := 0, false
		for _, u := range all {
			choice, known := envoy.ChoiceOf(p.Target.Extensions(), u.at, u.cluster)
			if !known {
				return
			}
			if ownHash = ownHash || choice.OwnHash; choice.Hash {
				hashing++
			}
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		switch hashes := len(action.GetHashPolicy()) > 0; {
		case hashes && hashing == 0:
			p.Report(at.Field("route", "hash_policy").Key(), lint.Diagnostic{
				Message: "hash_policy has no effect, since the cluster does not balance by hashes",
				Notes:   []string{"requests with the same hash go to different hosts"},
				Help:    "write lb_policy: RING_HASH or MAGLEV in the cluster, or remove hash_policy",
				Related: []lint.Related{lint.RelatedTo(all[0].at.Field("lb_policy"), "the cluster")},
			})
		case !hashes && hashing == len(all) && !ownHash:
			p.Report(at.Field("route"), lint.Diagnostic{
				Severity: lint.Info,
				Message:  "the cluster balances by hashes, and this route does not have a hash_policy",
				Notes:    []string{"Envoy then chooses a host at random"},
				Help:     "add a hash_policy, such as the header or cookie that identifies a user",
				Related:  []lint.Related{lint.RelatedTo(all[0].at.Field("lb_policy"), "the cluster")},
			})
		}
	}),
})
