package pod

import (
	"slices"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "no-drain",
	Severity: lint.Info,
	Summary:  "nothing drains Envoy before Kubernetes ends its pod",
	Links: []string{
		drainDocs, lifecycleDocs,
		"InstanceBase::run (source/server/server.cc)",
	},
	Run: each(func(p *lint.Pass, w workload) {
		line, _ := w.Command()
		if _, hooked := w.PreStop(); hooked || !line.Certain() || !served(p, w) {
			return
		}
		p.Report(w.at(w.Field("name")), lint.Diagnostic{
			Message: "the container has no preStop hook, and Envoy ends at once on SIGTERM",
			Notes:   []string{"requests in Envoy fail, and so do those that come before every node knows that the pod ends; --drain-time-s does not matter here"},
			Help:    "add a preStop hook that sends POST /healthcheck/fail to the admin interface and sleeps for some seconds",
		})
	}),
})

// served reports whether a Service sends traffic to Envoy in the pods.
func served(p *lint.Pass, w workload) bool {
	all, known := sockets(p)
	for _, service := range w.Services {
		for t := range targets(w.Pod, service) {
			if slices.ContainsFunc(all, func(s socket) bool { return s.is(t.port, t.udp) }) || !known && w.owns(t.port) {
				return true
			}
		}
	}
	return false
}
