package route

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "retry-on-token",
	Severity: lint.Warning,
	Summary:  "retry_on has a condition that Envoy does not know",
	Links: []string{
		"RetryStateImpl::parseRetryOn (source/common/router/retry_state_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/router_filter#x-envoy-retry-on",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.RetryPolicy) {
		all := slices.Concat(envoy.RetryConditions, envoy.RetryGRPC)
		for _, token := range envoy.RetryOn(m) {
			if slices.Contains(all, token) {
				continue
			}
			if _, ok := tableOf(p, at); !ok {
				return
			}
			p.Report(at.Field("retry_on"), unknownCondition(p, at, m, token, all))
		}
	}),
})

func unknownCondition(p *lint.Pass, at lint.At, m *routev3.RetryPolicy, token string, all []string) lint.Diagnostic {
	d := lint.Diagnostic{
		Message: fmt.Sprintf("no condition of retry_on is named %q", token),
		Notes:   []string{"Envoy ignores conditions that it does not know"},
		Help:    "write some of " + strings.Join(all, ", "),
	}
	if !envoy.Retries(m) {
		d.Notes = append(d.Notes, "retry_on has no other condition: nothing is retried")
	}
	correct := func(meant string) {
		d.Fixes = lint.Replace(at.Field("retry_on"), replaceToken(m.GetRetryOn(), token, meant)).Likely(fmt.Sprintf("write %q", meant))
	}
	near := p.Nearest(token, func() []string { return all })
	parts := strings.FieldsFunc(token, func(r rune) bool { return strings.ContainsRune(" ;|", r) })
	_, notNumber := strconv.Atoi(token)
	switch {
	case notNumber == nil:
		d.Help = fmt.Sprintf("write retriable-status-codes here, and retriable_status_codes: [%s]", token)
	case len(parts) > 1:
		d.Help = "separate conditions by commas"
		correct(strings.Join(parts, ","))
	case len(token) > len("5xx") && near != "" || strings.EqualFold(token, near):
		d.Help = fmt.Sprintf("did you mean %q?", near)
		correct(near)
	}
	return d
}

// replaceToken replaces one of the tokens of a list that is separated by commas.
func replaceToken(list, token, by string) string {
	tokens := strings.Split(list, ",")
	for i, t := range tokens {
		if strings.TrimSpace(t) == token {
			tokens[i] = strings.Replace(t, token, by, 1)
		}
	}
	return strings.Join(tokens, ",")
}
