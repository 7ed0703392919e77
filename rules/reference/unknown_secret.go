package reference

import (
	"fmt"
	"strings"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "unknown-secret",
	Severity: lint.Error,
	Summary:  "a TLS certificate, a validation context or another secret is named that does not exist",
	Links:    []string{"getTlsCertificateConfigProviders (source/common/tls/context_config_impl.cc)", "https://github.com/envoyproxy/envoy/issues/7252"},
	Run: lint.Whole(func(p *lint.Pass) {
		b := bootOf(p.Snapshot)
		for _, e := range p.Snapshot.Edges {
			switch {
			case e.Kind != graph.Secret:
			case e.Source == graph.Static && b != nil:
				staticSecret(p, b, e)
			case e.To == nil && !p.Snapshot.Assumes(graph.Secret, e.Target):
				if world := p.Snapshot.World(graph.Secret, e.Source); world != graph.Open {
					p.ReportDangling(e, world, lint.Diagnostic{
						Message: fmt.Sprintf("no secret is named %q", e.Target),
						Notes:   []string{"what needs it waits until initial_fetch_timeout (15 s unless set), then " + without(e)},
					})
				}
			}
		}
	}),
})

// without tells what happens where a secret has not come.
func without(e *graph.Edge) string {
	if e.Place.Enclosing("envoy.config.core.v3.TransportSocket") != nil {
		return "resets TLS connections"
	}
	return "goes on without it: oauth2 answers 503, a credential injector 401"
}

// staticSecret checks a name that means a secret of the bootstrap.
func staticSecret(p *lint.Pass, b *boot, e *graph.Edge) {
	wants := wantedOf(e.Place)
	found := b.secrets[e.Target]
	if found != nil && (wants == nil || wants.is(found)) {
		return
	}
	d := lint.Diagnostic{
		Message: fmt.Sprintf("no static secret is named %q", e.Target),
		Help:    "add it to static_resources.secrets, or give its sds_config",
	}
	if found != nil {
		d.Message = fmt.Sprintf("static secret %q is no %s", e.Target, wants.what)
		d.Help = ""
	} else {
		var names []string
		for _, r := range p.Snapshot.All(graph.Secret) {
			if s := b.secrets[r.Name]; s != nil && r.Delivery == graph.Booted && (wants == nil || wants.is(s)) {
				names = append(names, r.Name)
			}
		}
		if near := lint.Nearest(e.Target, names); near != "" {
			d.Help, d.Fixes = fmt.Sprintf("did you mean %q?", near), lint.Correct(lint.AtEdge(e), e.Target, near)
		}
	}
	switch {
	case wants == nil:
	case wants.upstream == "":
		d.Refused, d.Notes = true, []string{"envoy crashes when it loads this"}
	default:
		d.Refused, d.Upstream = true, strings.ReplaceAll(wants.upstream, "%s", e.Target)
		d.Notes = []string{"envoy refuses it: static secrets are looked up when the configuration is loaded"}
	}
	p.ReportEdge(e, d)
}

// wanted is the kind of secret that a place wants, and what Envoy says where it is missing.
type wanted struct {
	what     string
	is       func(*tlsv3.Secret) bool
	upstream string // empty: it crashes
}

func wantedOf(at *graph.Place) *wanted {
	certificate := func(s *tlsv3.Secret) bool { return s.GetTlsCertificate() != nil }
	validation := func(s *tlsv3.Secret) bool { return s.GetValidationContext() != nil }
	tickets := func(s *tlsv3.Secret) bool { return s.GetSessionTicketKeys() != nil }
	generic := func(s *tlsv3.Secret) bool { return s.GetGenericSecret() != nil }
	switch at.Path.Name() {
	case "tls_certificate_sds_secret_configs":
		return &wanted{"TLS certificate", certificate, "Unknown static secret: %s"}
	case "validation_context_sds_secret_config":
		return &wanted{"certificate validation context", validation, "Unknown static certificate validation context: %s"}
	case "session_ticket_keys_sds_secret_config":
		return &wanted{"set of session ticket keys", tickets, "Unknown tls session ticket keys: %s"}
	case "token_secret":
		return &wanted{"generic secret", generic, "invalid token secret configuration"}
	case "hmac_secret":
		return &wanted{"generic secret", generic, "invalid HMAC secret configuration"}
	case "client_secret":
		return &wanted{"generic secret", generic, "Invalid oauth2 client secret configuration"}
	case "secret_configs":
		return &wanted{"generic secret", generic, "envoy.formatter.generic_secret: secret '%s' not found in static bootstrap resources"}
	case "encryption_parameters":
		return &wanted{"generic secret", generic, "invalid encryption_parameters config"}
	case "credential":
		return &wanted{"generic secret", generic, ""}
	}
	return nil
}
