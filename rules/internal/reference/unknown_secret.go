package reference

import (
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "unknown-secret",
	Severity: lint.Error,
	Summary:  "a reference to a TLS certificate, validation context or other secret that does not exist",
	Links: []string{
		"getTlsCertificateConfigProviders (source/common/tls/context_config_impl.cc)",
		"https://github.com/envoyproxy/envoy/issues/7252",
	},
	Run: lint.EachEdge(graph.Secret, func(p *lint.Pass, e *graph.Edge) {
		switch b := envoy.BootOf(p.Snapshot); {
		case e.Source == graph.Static && b != nil:
			if envoy.OuterRead(p.Target.Extensions(), e.Place) {
				staticSecret(p, b, e)
			}
		case e.To == nil && !p.Snapshot.Assumes(graph.Secret, e.Target):
			if world := p.Snapshot.World(graph.Secret, e.Source); world != graph.Open {
				p.ReportDangling(e, world, lint.Diagnostic{
					Message: fmt.Sprintf("no secret is named %q", e.Target),
					Notes:   []string{"Envoy waits for it until initial_fetch_timeout (15 s unless set), then " + without(e)},
				})
			}
		}
	}),
})

// without describes what Envoy does without the secret.
func without(e *graph.Edge) string {
	if e.Place.Enclosing("envoy.config.core.v3.TransportSocket") != nil {
		return "resets TLS connections"
	}
	return "continues without it: oauth2 answers 503, a credential injector 401"
}

// staticSecret checks a reference to a secret of the bootstrap.
func staticSecret(p *lint.Pass, b *envoy.Boot, e *graph.Edge) {
	wants := envoy.SecretLookupOf(e.Place)
	found := b.Secret(e.Target)
	if found != nil && (wants == nil || wants.Is(found)) {
		return
	}
	d := lint.Diagnostic{
		Message: fmt.Sprintf("no static secret is named %q", e.Target),
		Help:    "add it to static_resources.secrets, or add an sds_config",
	}
	if found != nil {
		d.Message = fmt.Sprintf("static secret %q is not a %s", e.Target, wants.What)
		d.Help = ""
	} else {
		suitable := func(v graph.View) (names []string) {
			b := envoy.BootOf(v)
			for _, r := range v.All(graph.Secret) {
				if s := b.Secret(r.Name); s != nil && r.Delivery == graph.FromBootstrap && (wants == nil || wants.Is(s)) {
					names = append(names, r.Name)
				}
			}
			return names
		}
		d.Guess(e.Target, suitable, correct(e))
	}
	switch {
	case wants == nil:
	case wants.Says == "":
		d.Rejected, d.Notes = true, []string{"Envoy crashes when it loads this"}
	default:
		d.Rejected, d.Upstream = true, strings.ReplaceAll(wants.Says, "%s", e.Target)
		d.Notes = []string{"Envoy rejects it: it looks static secrets up when it loads the configuration"}
	}
	p.ReportEdge(e, d)
}
