package route

import (
	"fmt"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "retry-flag-missing",
	Severity: lint.Warning,
	Summary:  "a retry policy lists status codes or headers, and its retry_on does not ask for them",
	Links: []string{
		"RetryStateImpl::wouldRetryFromHeaders (source/common/router/retry_state_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/router_filter#x-envoy-retry-on",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.RetryPolicy) {
		for _, list := range []struct {
			field, condition string
			length           int
		}{
			{"retriable_status_codes", "retriable-status-codes", len(m.GetRetriableStatusCodes())},
			{"retriable_headers", "retriable-headers", len(m.GetRetriableHeaders())},
		} {
			if list.length == 0 || envoy.RetriesOn(m, list.condition) {
				continue
			}
			if _, ok := tableOf(p, at); !ok {
				return
			}
			d := lint.Diagnostic{
				Message: list.field + " has no effect",
				Notes:   []string{fmt.Sprintf("Envoy looks at it only if retry_on, or x-envoy-retry-on of a request, has the condition %s", list.condition)},
				Help:    fmt.Sprintf("add %s to retry_on", list.condition),
			}
			if m.GetRetryOn() == "" {
				d.Fixes = lint.Insert(at, "retry_on", list.condition).Likely(d.Help)
			} else {
				d.Fixes = lint.Replace(at.Field("retry_on"), strings.TrimRight(m.GetRetryOn(), ", ")+","+list.condition).Likely(d.Help)
			}
			p.Report(at.Field(list.field).Key(), d)
		}
	}),
})
