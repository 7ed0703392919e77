package pod

import (
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "probe-port-unserved",
	Severity: lint.Warning,
	Summary:  "a probe asks a port on which Envoy does not listen",
	Links:    []string{"https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/"},
	Run: each(func(p *lint.Pass, w workload) {
		for _, name := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
			for _, how := range []string{"httpGet", "tcpSocket", "grpc"} {
				probe := w.Field(name, how)
				if port, ok := w.Pod.Port(probe.Field("port")); ok && !probe.Field("host").Exists() {
					w.unserved(p, w.at(probe.Field("port")), "the kubelet", port, false)
				}
			}
		}
	}),
})
