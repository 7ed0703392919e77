package route

import (
	"fmt"
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

const rewriteTemplate = "envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig"

var _ = Rules.Add(&lint.Rule{
	Name:     "uri-template-invalid",
	Severity: lint.Error,
	Summary:  "a path template is malformed, or a rewrite names a variable that the match does not have",
	Links:    []string{"parsePathPatternSyntax (source/extensions/path/uri_template_lib/uri_template_internal.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, r *routev3.Route) {
		if r.GetMatch().GetPathMatchPolicy() == nil && r.GetRoute().GetPathRewritePolicy() == nil {
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		policy, rewritePolicy := at.Field("match", "path_match_policy"), at.Field("route", "path_rewrite_policy")
		match, variables, ok := check.MatchTemplate(p, policy, r.GetMatch().GetPathMatchPolicy())
		rewrite, isRewrite := check.Template(rewritePolicy, r.GetRoute().GetPathRewritePolicy(), rewriteTemplate, "path_template_rewrite")
		if !ok || !isRewrite {
			return
		}
		where := rewritePolicy.Field("typed_config", "path_template_rewrite")
		named, wrong := check.ParseRewrite(rewrite)
		switch {
		case wrong != "":
			p.Reject(where, lint.Rejection{
				Message:  "the path template is malformed: " + wrong,
				Upstream: fmt.Sprintf("path_rewrite_policy.path_template_rewrite %s is invalid", rewrite),
			})
		case r.GetMatch().GetPathMatchPolicy() == nil:
			p.Reject(where, lint.Rejection{
				Message:  "a path template rewrite needs a path template match",
				Help:     "match with a path_match_policy, or use prefix_rewrite or regex_rewrite",
				Upstream: "unable to use envoy.path.rewrite.uri_template.uri_template_rewriter extension without envoy.path.match.uri_template.uri_template_matcher extension",
			})
		case match != "":
			for _, name := range named {
				if !slices.Contains(variables, name) {
					p.Reject(where, lint.Rejection{
						Message:  fmt.Sprintf("the path template of the match does not have a variable %q", name),
						Upstream: fmt.Sprintf("mismatch between variables in path_match_policy %s and path_rewrite_policy %s", match, rewrite),
						Related:  []lint.Related{lint.RelatedTo(policy.Field("typed_config", "path_template"), "the template that matches")},
					})
				}
			}
		}
	}),
})
