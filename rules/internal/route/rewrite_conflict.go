package route

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "rewrite-conflict",
	Severity: lint.Error,
	Summary:  "a route rewrites the path in two ways",
	Links:    []string{"RouteEntryImplBase::RouteEntryImplBase (source/common/router/config_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, r *routev3.Route) {
		action := r.GetRoute()
		var fields []string
		if action.GetPrefixRewrite() != "" {
			fields = append(fields, "prefix_rewrite")
		}
		if action.GetRegexRewrite() != nil {
			fields = append(fields, "regex_rewrite")
		}
		if action.GetPathRewritePolicy() != nil {
			fields = append(fields, "path_rewrite_policy")
		}
		matched := action.GetPrefixRewrite() != "" && r.GetMatch().GetPathMatchPolicy() != nil
		if len(fields) < 2 && !matched {
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		if len(fields) > 1 {
			p.Reject(at.Field("route", fields[1]).Key(), lint.Rejection{
				Message:  "a route can have only one of prefix_rewrite, regex_rewrite and path_rewrite_policy",
				Help:     "keep the one with the path that the upstream should see",
				Upstream: "Specify only one of prefix_rewrite, regex_rewrite or path_rewrite_policy",
				Related:  []lint.Related{lint.RelatedTo(at.Field("route", fields[0]).Key(), "the other one")},
			})
			return
		}
		p.Reject(at.Field("route", "prefix_rewrite").Key(), lint.Rejection{
			Message:  "prefix_rewrite cannot be combined with path_match_policy",
			Help:     "write a path_rewrite_policy or a regex_rewrite, or match a prefix",
			Upstream: "Cannot use prefix_rewrite with matcher extension",
			Related:  []lint.Related{lint.RelatedTo(at.Field("match", "path_match_policy").Key(), "the path is matched by an extension")},
		})
	}),
})
