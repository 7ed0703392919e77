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
			p.Refuse(at.Field("watchdog").Key(), "watchdog and watchdogs exclude each other", "move what is in watchdog into watchdogs.main_thread_watchdog and watchdogs.worker_watchdog",
				"Only one of watchdog or watchdogs should be set!", lint.RelatedTo(at.Field("watchdogs").Key(), "the other one"))
		}
	}),
})
