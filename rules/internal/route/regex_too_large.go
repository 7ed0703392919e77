package route

import (
	"fmt"

	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "regex-too-large",
	Severity: lint.Error,
	Summary:  "a regular expression of a route table compiles to a larger program than Envoy allows",
	Links: []string{
		"CompiledGoogleReMatcher (source/common/common/regex.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/type/matcher/v3/regex.proto",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *matcherv3.RegexMatcher) {
		if m.GetRegex() == "" || envoy.OtherRegexEngine(p.Snapshot, m) {
			return
		}
		o, is := envoy.RegexTooLarge(p.Target, p.Snapshot, m)
		if !is {
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		message := fmt.Sprintf("the regular expression compiles to a program of %d instructions, but only %d are allowed", o.Size, o.Limit)
		if !o.Certain {
			p.Report(at.Field("regex"), lint.Diagnostic{
				Severity: lint.Warning, Message: message + " by default",
				Notes: []string{"Envoy rejects it unless the runtime in its bootstrap sets a higher re2.max_program_size.error_level"},
				Help:  "write a shorter expression, or several routes", Upstream: o.Upstream(m.GetRegex()),
			})
			return
		}
		help := "write a shorter expression or several routes, or raise re2.max_program_size.error_level in the bootstrap's layered_runtime"
		if o.Own {
			help = "write a shorter expression, or remove max_program_size and set re2.max_program_size.error_level " +
				"in the bootstrap's layered_runtime"
		}
		p.Reject(at.Field("regex"), lint.Rejection{
			Message:  message,
			Help:     help,
			Upstream: o.Upstream(m.GetRegex()),
		})
	}),
})
