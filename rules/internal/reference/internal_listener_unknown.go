package reference

import (
	"fmt"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "internal-listener-unknown",
	Severity: lint.Error,
	Summary:  "an endpoint is an internal listener that does not exist, or internal listeners are not enabled",
	Links: []string{
		"InternalClientConnectionFactory::createClientConnection (source/extensions/bootstrap/internal_listener/client_connection_factory.cc)",
		"ListenerImpl::validateConfig (source/common/listener_manager/listener_impl.cc)",
	},
	Run: lint.EachEdge(graph.InternalListener, unknownInternal).And(lint.EachResource(func(p *lint.Pass, r *graph.Resource) {
		l, ok := r.Message.(*listenerv3.Listener)
		if !ok || l.GetInternalListener() == nil {
			return
		}
		if b := envoy.BootOf(p.Snapshot); b != nil && !internalEnabled(b) {
			p.Report(r.At().Field("internal_listener").Key(), lint.Diagnostic{
				Message:  "internal listeners are not enabled in the bootstrap",
				Notes:    []string{envoy.OnReject(r)},
				Help:     "add the extension envoy.bootstrap.internal_listener to bootstrap_extensions",
				Rejected: true,
				Upstream: fmt.Sprintf("error adding listener named '%s': InternalListener bootstrap extension is mandatory", r.Name),
			})
		}
	}, graph.Listener)),
})

func unknownInternal(p *lint.Pass, e *graph.Edge) {
	if e.To != nil || e.From.Kind == graph.Listener && e.Path.Parent().Parent().Name() == "address" ||
		p.Snapshot.Assumes(graph.Listener, e.Target) || p.Snapshot.Assumes(graph.InternalListener, e.Target) {
		return
	}
	world := p.Snapshot.World(graph.Listener, graph.Anywhere)
	if world == graph.Open {
		return
	}
	d := lint.Diagnostic{
		Message: fmt.Sprintf("no internal listener is named %q", e.Target),
		Notes:   []string{connecting(e)},
	}
	if p.Snapshot.Find(graph.Listener, graph.Anywhere, e.Target) != nil {
		d.Help = fmt.Sprintf("listener %q has no internal_listener: {}", e.Target)
	} else {
		d.Guess(e.Target, func(v graph.View) []string { return v.Names(graph.Listener) }, func(d *lint.Diagnostic, near string) {
			d.Help = fmt.Sprintf("did you mean %q?", near)
			if world == graph.Closed {
				d.Fixes = lint.Correct(e.At(), e.Target, near)
			}
		})
	}
	p.ReportDangling(e, world, d)
}

func internalEnabled(b *envoy.Boot) bool {
	for _, extension := range b.Message.GetBootstrapExtensions() {
		if strings.HasSuffix(extension.GetTypedConfig().GetTypeUrl(), "envoy.extensions.bootstrap.internal_listener.v3.InternalListener") {
			return true
		}
	}
	return false
}

// connecting describes what happens to connections to the missing listener.
func connecting(e *graph.Edge) string {
	if e.Place.Enclosing("envoy.config.endpoint.v3.Endpoint.AdditionalAddress") != nil {
		return "Envoy accepts it, and connections fail if the endpoint's first address does (503, response flag UF)"
	}
	return "Envoy accepts it, and connections fail (503, response flag UF)"
}
