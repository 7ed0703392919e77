package walk

import (
	"regexp"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	uritemplatematchv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/path/match/uri_template/v3"
	uritemplaterewritev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/path/rewrite/uri_template/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/ascii"
)

// replacePrefix replaces the part of the path that the route matches. It reports false for a path that does not begin with it: a route table can
// leave out the parameters of paths when it matches them (ignore_path_parameters_in_path_matching).
func (j *journey) replacePrefix(by string) (result string, replaced bool) {
	full := j.headers.value(path)
	var matched string
	switch of := j.level.Route.GetMatch().GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		matched = of.Prefix
	case *routev3.RouteMatch_PathSeparatedPrefix:
		matched = of.PathSeparatedPrefix
	case *routev3.RouteMatch_Path:
		matched = of.Path
	default:
		matched = withoutQuery(full)
	}
	if len(full) < len(matched) || ascii.Lower(full[:len(matched)]) != ascii.Lower(matched) {
		return full, false
	}
	return by + full[len(matched):], true
}

// rewritePath follows RouteEntryImplBase::currentUrlPathAfterRewriteWithMatchedPath, for a route to a cluster.
func (j *journey) rewritePath(action *routev3.RouteAction) (result string, rewritten bool) {
	full := j.headers.value(path)
	just := withoutQuery(full)
	switch {
	case action.GetPrefixRewrite() != "":
		return j.replacePrefix(action.GetPrefixRewrite())
	case action.GetRegexRewrite() != nil:
		made := j.substitute(action.GetRegexRewrite(), just, unknownPath)
		return made + full[len(just):], made != ""
	case action.GetPathRewrite() != "":
		made, why := j.format(action.GetPathRewrite(), j.headers)
		if why != "" {
			j.answer.doubt(unknownPath, why)
		}
		return made + full[len(just):], made != ""
	case action.GetPathRewritePolicy() != nil:
		return j.rewriteTemplate(just) + full[len(just):], true
	}
	return full, false
}

// rewriteTemplate follows UriTemplateRewriter::rewritePath.
func (j *journey) rewriteTemplate(just string) string {
	at := j.level.At
	if j.level.Cluster != nil {
		at = j.level.Around.At
	}
	m, _ := envoy.Content(at.Field("match", "path_match_policy", "typed_config"), j.level.Route.GetMatch().GetPathMatchPolicy().GetTypedConfig())
	r, _ := envoy.Content(at.Field("route", "path_rewrite_policy", "typed_config"), j.level.Route.GetRoute().GetPathRewritePolicy().GetTypedConfig())
	from, ok := m.(*uritemplatematchv3.UriTemplateMatchConfig)
	to, isTemplate := r.(*uritemplaterewritev3.UriTemplateRewriteConfig)
	if !ok || !isTemplate {
		j.answer.doubt(unknownPath, "an extension rewrites the path")
		return just
	}
	regex, err := match.Template(from.GetPathTemplate())
	if err != nil {
		return just
	}
	groups := regex.FindStringSubmatch(just)
	if groups == nil {
		return just
	}
	result := to.GetPathTemplateRewrite()
	for i, name := range regex.SubexpNames() {
		if name != "" {
			result = strings.ReplaceAll(result, "{"+name+"}", groups[i])
		}
	}
	return result
}

// substitute follows CompiledGoogleReMatcher::replaceAll, which is RE2::GlobalReplace: \1 is a group.
func (j *journey) substitute(m *matcherv3.RegexMatchAndSubstitute, text, field string) string {
	regex, err := regexp.Compile(m.GetPattern().GetRegex())
	if err != nil {
		j.answer.doubt(field, "the regular expression is not known")
		return text
	}
	var b strings.Builder
	last := 0
	for _, at := range regex.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[last:at[0]])
		expand(&b, m.GetSubstitution(), text, at)
		last = at[1]
	}
	b.WriteString(text[last:])
	return b.String()
}

// expand writes a substitution with the groups of a match.
func expand(b *strings.Builder, substitution, text string, at []int) {
	for i := 0; i < len(substitution); i++ {
		c := substitution[i]
		if c != '\\' || i+1 == len(substitution) {
			b.WriteByte(c)
			continue
		}
		i++
		if d := substitution[i]; d >= '0' && d <= '9' {
			if g := 2 * int(d-'0'); g+1 < len(at) && at[g] >= 0 {
				b.WriteString(text[at[g]:at[g+1]])
			}
		} else {
			b.WriteByte(d)
		}
	}
}

// rewriteHost follows RouteEntryImplBase::finalizeHostHeader. The path is still the one before its rewrite.
func (j *journey) rewriteHost(h *headers, action *routev3.RouteAction) {
	name := ""
	switch by := action.GetHostRewriteSpecifier().(type) {
	case *routev3.RouteAction_HostRewriteLiteral:
		name = by.HostRewriteLiteral
	case *routev3.RouteAction_HostRewriteHeader:
		if all := h.values(by.HostRewriteHeader); len(all) > 0 {
			name = all[0]
		}
	case *routev3.RouteAction_HostRewritePathRegex:
		name = j.substitute(by.HostRewritePathRegex, withoutQuery(h.value(path)), unknownHost)
	case *routev3.RouteAction_HostRewrite:
		var why string
		if name, why = j.formatWith(by.HostRewrite, h, "-"); why != "" {
			j.answer.doubt(unknownHost, why)
		}
	}
	if name != "" {
		j.setHost(h, action, name)
	}
}

// setHost follows Utility::updateAuthority.
func (j *journey) setHost(h *headers, action *routev3.RouteAction, name string) {
	if before := h.value(authority); before != "" {
		if !j.manager.suppresses() {
			h.change("x-envoy-original-host")
			h.set("x-envoy-original-host", before)
		}
		if action.GetAppendXForwardedHost() {
			all := h.value("x-forwarded-host")
			if parts := strings.Split(all, ","); parts[len(parts)-1] != before {
				h.change("x-forwarded-host")
				h.append("x-forwarded-host", before)
			}
		}
	}
	h.set(authority, name)
}
