package pod

import (
	"slices"
	"strings"

	"github.com/xdslint/xdslint/lint"
)

// changing are the pages of the admin interface that a drain uses, and that change something.
var changing = []string{"/drain_listeners", "/healthcheck/fail"}

var _ = Rules.Add(&lint.Rule{
	Name:     "hook-not-post",
	Severity: lint.Warning,
	Summary:  "a preStop hook asks Envoy to drain by a GET, which Envoy rejects",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/operations/admin", "AdminImpl::runCallback (source/server/admin/admin.cc)"},
	Run: each(func(p *lint.Pass, w workload) {
		hook, _ := w.PreStop()
		for _, request := range hook.Requests() {
			page, _, _ := strings.Cut(request.Path, "?")
			if request.Post || !slices.Contains(changing, page) {
				continue
			}
			p.Report(w.at(request.At), lint.Diagnostic{
				Message: page + " is requested by a GET, and does nothing",
				Notes:   []string{"pages of the admin interface that change something answer a GET with 405; nothing drains before Kubernetes ends Envoy"},
				Help:    "send a POST in an exec hook: curl -X POST, or wget --post-data ''",
			})
		}
	}),
})
