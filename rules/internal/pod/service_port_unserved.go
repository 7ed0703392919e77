package pod

import (
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "service-port-unserved",
	Severity: lint.Warning,
	Summary:  "a Service leads to a port on which Envoy does not listen",
	Links:    []string{"https://kubernetes.io/docs/concepts/services-networking/service/#field-spec-ports"},
	Run: eachTarget(func(p *lint.Pass, w workload, t target) {
		if t.port == 0 {
			_, kind, _ := strings.Cut(w.Pod.Of.Kind(), "/")
			p.Report(w.at(t.to), lint.Diagnostic{
				Message: fmt.Sprintf("no container of %s %s names a port %q", kind, w.Pod.Of.Name(), t.to.Text()),
				Notes:   []string{"the Service has no endpoint for this port, so its connections fail"},
				Help:    "give the containerPort this name, or write its number here",
			})
			return
		}
		w.unserved(p, w.at(t.to), "the Service", t.port, t.udp)
	}),
})
