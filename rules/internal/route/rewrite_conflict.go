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
		if action.GetPathRewrite() != "" && !p.Target.Before("1.37") {
			fields = append(fields, "path_rewrite")
		}
		var prefix []string // the field with a prefix_rewrite that replaces nothing, because no prefix is matched
		switch {
		case r.GetMatch().GetPathMatchPolicy() == nil:
		case action.GetPrefixRewrite() != "":
			prefix = []string{"route", "prefix_rewrite"}
		case r.GetRedirect().GetPrefixRewrite() != "" && !p.Target.Before("1.40"):
			prefix = []string{"redirect", "prefix_rewrite"}
		}
		if len(fields) < 2 && prefix == nil {
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		if len(fields) > 1 {
			p.Reject(at.Field("route", fields[1]).Key(), lint.Rejection{
				Message:  "a route can have only one of prefix_rewrite, regex_rewrite, path_rewrite_policy and path_rewrite",
				Help:     "keep the one with the path that the upstream should see",
				Upstream: "Specify only one of prefix_rewrite, regex_rewrite or path_rewrite_policy",
				Related:  []lint.Related{lint.RelatedTo(at.Field("route", fields[0]).Key(), "the other one")},
			})
			return
		}
		help, upstream := "write a path_rewrite_policy or a regex_rewrite, or match a prefix", "Cannot use prefix_rewrite with matcher extension"
		if prefix[0] == "redirect" {
			help, upstream = "write a regex_rewrite or a path_rewrite, or match a prefix", "Cannot use redirect.prefix_rewrite with path_match_policy"
		}
		p.Reject(at.Field(prefix...).Key(), lint.Rejection{
			Message:  "prefix_rewrite cannot be combined with path_match_policy",
			Help:     help,
			Upstream: upstream,
			Related:  []lint.Related{lint.RelatedTo(at.Field("match", "path_match_policy").Key(), "the path is matched by an extension")},
		})
	}),
})
