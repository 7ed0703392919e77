package ops

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "no-access-log",
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Info, lint.Mesh: lint.Info, lint.Internal: lint.Info},
	Summary:  "a connection manager does not have an access log",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		l, where := graph.Around[*listenerv3.Listener](at.Place)
		_, chain := graph.Around[*listenerv3.FilterChain](at.Place)
		if chain == nil || where == nil || len(l.GetAccessLog()) > 0 || len(m.GetAccessLog()) > 0 || !envoy.OuterRead(p.Target.Extensions(), at.Place) {
			return
		}
		p.Report(at.Field("stat_prefix"), lint.Diagnostic{
			Message: "nothing records the requests to this connection manager",
			Notes:   []string{"without an access log, no one can see later which requests failed, and why: the response flags are only there"},
			Help:    "add access_log, for errors alone if it is too much for all requests",
			Fixes:   lint.Insert(at, "access_log", toStdout).Likely("write an access log to the standard output"),
		})
	}),
})

var toStdout = lint.List{lint.Fields{
	{Name: "name", Value: "envoy.access_loggers.stdout"},
	{Name: "typed_config", Value: lint.Fields{{Name: "@type", Value: "type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog"}}},
}}
