package route

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "rewrite-reference",
	Severity: lint.Warning,
	Summary:  "a regex rewrite refers to a group that the expression does not have, or in a way that RE2 does not know",
	Links: []string{
		"CompiledGoogleReMatcher::replaceAll (source/common/common/regex.h)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/type/matcher/v3/regex.proto#type-matcher-v3-regexmatchandsubstitute",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *matcherv3.RegexMatchAndSubstitute) {
		if !rewrites[holder(at)] || envoy.OtherRegexEngine(p.Snapshot, m.GetPattern()) {
			return
		}
		parsed, err := syntax.Parse(m.GetPattern().GetRegex(), syntax.Perl)
		if err != nil {
			return // route/regex-invalid reports it, or only RE2 can read it
		}
		d, found := wrongReference(m.GetSubstitution(), parsed.MaxCap())
		if !found {
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		if fixed := dollar().ReplaceAllString(m.GetSubstitution(), `\$1`); fixed != m.GetSubstitution() && !strings.Contains(m.GetSubstitution(), `\`) {
			d.Fixes = lint.Replace(at.Field("substitution"), fixed).Likely("write references with a backslash")
		}
		p.Report(at.Field("substitution"), d)
	}),
})

// rewrites are the fields with rewrites of paths and hosts.
var rewrites = map[protoreflect.FullName]bool{
	"envoy.config.route.v3.RouteAction.regex_rewrite":           true,
	"envoy.config.route.v3.RouteAction.host_rewrite_path_regex": true,
	"envoy.config.route.v3.RedirectAction.regex_rewrite":        true,
}

var (
	backslash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\(.?)`) })
	dollar    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{?([0-9])\}?`) })
)

// wrongReference returns what is wrong with a substitution for an expression with some groups.
func wrongReference(substitution string, groups int) (d lint.Diagnostic, found bool) {
	references := backslash().FindAllStringSubmatch(substitution, -1)
	unknown := ""
	for _, r := range references {
		n, err := strconv.Atoi(r[1])
		switch {
		case n > groups:
			return lint.Diagnostic{
				Message: fmt.Sprintf(`the expression does not have a group \%d`, n),
				Notes:   []string{fmt.Sprintf("it has %s; Envoy then replaces nothing", words.Count(groups, "group"))},
				Help:    `refer to a group that exists, or to all that matched by \0`,
			}, true
		case err != nil && r[1] != `\` && unknown == "":
			unknown = r[0]
		}
	}
	if unknown != "" {
		return lint.Diagnostic{
			Message: fmt.Sprintf("%s is not a reference, and what follows it is lost", unknown),
			Notes:   []string{"a backslash is followed by the number of a group, or by another backslash"},
			Help:    fmt.Sprintf("remove the backslash, or write %s", `\`+unknown),
		}, true
	}
	if r := dollar().FindStringSubmatch(substitution); r != nil && len(references) == 0 {
		if n, _ := strconv.Atoi(r[1]); n <= groups {
			return lint.Diagnostic{
				Message: fmt.Sprintf("%s is not a reference to a group, but text", r[0]),
				Notes:   []string{"references of RE2 begin with a backslash"},
				Help:    fmt.Sprintf(`write \%d`, n),
			}, true
		}
	}
	return d, false
}
