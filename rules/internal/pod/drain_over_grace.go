package pod

import (
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/internal/kube"
	"github.com/xdslint/xdslint/lint"
)

// defaultDrain is the default of --drain-time-s.
const defaultDrain = 600

var _ = Rules.Add(&lint.Rule{
	Name:     "drain-over-grace",
	Severity: lint.Warning,
	Summary:  "a drain takes much longer than the preStop hook, so that few clients close their connections",
	Links: []string{
		drainDocs,
		"https://www.envoyproxy.io/docs/envoy/latest/operations/cli#cmdoption-drain-time-s",
		"DrainManagerImpl::drainClose (source/server/drain_manager_impl.cc)",
	},
	Run: each(func(p *lint.Pass, w workload) {
		hook, _ := w.PreStop()
		line, _ := w.Command()
		strategy, _, known := line.Flag("--drain-strategy")
		at, graceful := drains(hook)
		if !graceful || !known || strategy.Text == "immediate" || !line.Certain() {
			return
		}
		drain := defaultDrain
		if n, _, set := line.Number("--drain-time-s"); set {
			drain = n
		} else if _, given, _ := line.Flag("--drain-time-s"); given {
			return
		}
		slept, _, known := hook.Sleep()
		if wait := min(slept, w.Pod.Grace()); known && slept > 0 && drain >= 2*wait {
			p.Report(w.at(at), lint.Diagnostic{
				Message: fmt.Sprintf("Envoy drains for %d s, and ends after %d s", drain, wait),
				Notes: []string{fmt.Sprintf(
					"while it drains, Envoy asks ever more clients to close their connections: %d %% at that time. The others are cut off", 100*wait/drain)},
				Help: fmt.Sprintf("add --drain-time-s %d to the args, or --drain-strategy immediate", max(1, wait*2/3)),
			})
		}
	}),
})

// drains returns where a hook drains the listeners gracefully. A failed health check asks all clients to close their connections at once.
func drains(hook kube.Hook) (at kube.Value, ok bool) {
	for _, request := range hook.Requests() {
		page, query, _ := strings.Cut(request.Path, "?")
		switch {
		case page == "/healthcheck/fail" && request.Post:
			return at, false
		case page == "/drain_listeners" && request.Post && strings.Contains(query, "graceful"):
			at, ok = request.At, true
		}
	}
	return at, ok
}
