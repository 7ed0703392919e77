package pod

import (
	"fmt"

	"github.com/xdslint/xdslint/internal/kube"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "service-port-unserved",
	Severity: lint.Warning,
	Summary:  "a Service leads to a port on which Envoy does not listen",
	Links:    []string{"https://kubernetes.io/docs/concepts/services-networking/service/#field-spec-ports"},
	Run: eachTarget(func(p *lint.Pass, _ kube.Object, w workload, t target) {
		if t.port == 0 {
			p.Report(t.at, lint.Diagnostic{
				Message: fmt.Sprintf("no container of %s names a port %q", w.Name, t.name),
				Notes:   []string{"the Service has no endpoint for this port, so its connections fail"},
				Help:    "give the containerPort this name, or write its number here",
			})
			return
		}
		w.unserved(p, t.at, "the Service", t.port, t.udp)
	}),
})
