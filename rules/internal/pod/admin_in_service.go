package pod

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/kube"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "admin-in-service",
	Severity: lint.Warning,
	Summary:  "a Service exposes the admin interface",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/operations/admin"},
	Run: eachTarget(func(p *lint.Pass, w workload, t target) {
		b, r := p.Snapshot.Bootstrap()
		admin := b.GetAdmin()
		if !envoy.Public(admin.GetAddress()) || len(admin.GetAllowPaths()) > 0 || t.udp || int(admin.GetAddress().GetSocketAddress().GetPortValue()) != t.port {
			return
		}
		d := lint.Diagnostic{
			Message: fmt.Sprintf("anyone who reaches the %s can read the configuration of Envoy and stop it", w.Name),
			Notes:   []string{"the admin interface asks for no password, and /quitquitquit is one of its pages"},
			Help:    "remove the port, and show others what they need, such as /stats/prometheus, through a listener or by allow_paths",
			Related: []lint.Related{lint.RelatedTo(r.At().Field("admin", "address"), "the admin interface")},
		}
		if !external(kube.ValueOf(w.Text.Root())) {
			d.Severity = lint.Info
		}
		p.Report(w.at(t.to), d)
	}),
})

// external reports whether a Service takes connections from outside of the cluster.
func external(service kube.Value) bool {
	kind := service.Field("spec", "type").Text()
	return kind == "LoadBalancer" || kind == "NodePort" || service.Field("spec", "externalIPs").Exists()
}
