package bootstrap

import (
	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "watchdog-twice",
	Severity: lint.Error,
	Summary:  "a bootstrap has both watchdog and watchdogs",
	Links:    []string{"MainImpl::initializeWatchdogs (source/server/configuration_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		if b.GetWatchdog() != nil && b.GetWatchdogs() != nil { //nolint:staticcheck // deprecated, and that is the point
			p.Reject(at.Field("watchdog").Key(), lint.Rejection{
				Message:  "watchdog cannot be combined with watchdogs",
				Help:     "move the fields of watchdog to watchdogs.main_thread_watchdog and watchdogs.worker_watchdog",
				Upstream: "Only one of watchdog or watchdogs should be set!",
				Related:  []lint.Related{lint.RelatedTo(at.Field("watchdogs").Key(), "the other one")},
			})
		}
	}),
})
