package hardening

import (
	"fmt"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "admin-exposed",
	Severity: lint.Info,
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Warning},
	Summary:  "the admin interface takes connections from other machines",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/operations/admin",
		edgeDocs,
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *bootstrapv3.Admin) {
		if !envoy.Public(m.GetAddress()) || len(m.GetAllowPaths()) > 0 {
			return
		}
		place := at.Field("address", "socket_address", "address")
		p.Report(place, lint.Diagnostic{
			Message: fmt.Sprintf("anyone who reaches port %d of this machine can read the configuration and stop Envoy", m.GetAddress().GetSocketAddress().GetPortValue()),
			Notes:   []string{"the admin interface asks for no password, and /quitquitquit is one of its pages"},
			Help:    "listen on 127.0.0.1, and show others what they need through a listener, or by allow_paths",
			Fixes:   lint.Replace(place, "127.0.0.1").Likely("listen on 127.0.0.1"),
		})
	}),
})
