package pod

import (
	"fmt"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "hook-over-grace",
	Severity: lint.Warning,
	Summary:  "a preStop hook takes longer than Kubernetes waits",
	Links:    []string{lifecycleDocs},
	Run: each(func(p *lint.Pass, w workload) {
		hook, _ := w.PreStop()
		seconds, at, _ := hook.Sleep()
		grace := w.Pod.Grace()
		if seconds <= grace {
			return
		}
		p.Report(w.at(at), lint.Diagnostic{
			Message: fmt.Sprintf("the hook takes at least %d s, and Kubernetes kills the container after %d s", seconds, grace),
			Notes:   []string{"terminationGracePeriodSeconds begins with the hook, and is 30 if it is not set"},
			Help:    fmt.Sprintf("set terminationGracePeriodSeconds of the pod to more than %d", seconds),
		})
	}),
})
