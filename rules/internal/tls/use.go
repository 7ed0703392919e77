package tls

import (
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	quicv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/quic/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/lint"
)

// use is a TLS context that Envoy builds, and that something is used in.
type use struct {
	common   *tlsv3.CommonTlsContext
	server   *tlsv3.DownstreamTlsContext // nil: of a client
	client   *tlsv3.UpstreamTlsContext
	quic     bool
	complete bool // its secrets are here: Envoy does not wait for SDS before it reads certificates and names of algorithms
}

// useAround returns the TLS context around a place. ok is false if Envoy does not build it, or already has.
func useAround(p *lint.Pass, at *graph.Place) (u use, ok bool) {
	down, where := graph.Around[*tlsv3.DownstreamTlsContext](at)
	if where == nil {
		up, place := graph.Around[*tlsv3.UpstreamTlsContext](at)
		u.client, u.common, where = up, up.GetCommonTlsContext(), place
	} else {
		u.server, u.common = down, down.GetCommonTlsContext()
	}
	if where == nil || where.Parent == nil || where.Resource.State != "" || !envoy.OuterRead(p.Target.Extensions(), where) {
		return use{}, false
	}
	if l, ok := where.Resource.Message.(*listenerv3.Listener); ok && l.GetApiListener() != nil {
		return use{}, false
	}
	_, quicUp := graph.Around[*quicv3.QuicUpstreamTransport](where)
	_, quicDown := graph.Around[*quicv3.QuicDownstreamTransport](where)
	u.quic = quicUp != nil || quicDown != nil
	u.complete = !awaits(u.common.GetValidationContextSdsSecretConfig()) &&
		!awaits(u.common.GetCombinedValidationContext().GetValidationContextSdsSecretConfig()) &&
		!awaits(u.server.GetSessionTicketKeysSdsSecretConfig()) && !slices.ContainsFunc(u.common.GetTlsCertificateSdsSecretConfigs(), awaits)
	return u, true
}

// awaits reports whether a secret comes over SDS.
func awaits(s *tlsv3.SdsSecretConfig) bool { return s.GetSdsConfig() != nil }

// usesOf returns the TLS contexts that use a message: the one around it or, if a secret holds it, those that name the secret in a field. The
// contexts that use a secret can be unknown: then the only use is empty.
func usesOf(p *lint.Pass, at *graph.Place, field string) (uses []use) {
	r := at.Resource
	if r.Kind != graph.Secret {
		if u, ok := useAround(p, at); ok {
			uses = append(uses, u)
		}
		return uses
	}
	if r.State != "" || r.Delivery == graph.OverXDS && len(p.Snapshot.Named(graph.Secret, r.Name)) > 1 {
		return nil // it runs, or which of several Envoy gets is not known
	}
	for _, e := range p.Snapshot.To(r) {
		if u, ok := useAround(p, e.Place); ok && e.Place.Path.Name() == field {
			uses = append(uses, u)
		}
	}
	if len(uses) == 0 && p.Snapshot.Partial() && r.Delivery == graph.OverXDS {
		uses = append(uses, use{common: &tlsv3.CommonTlsContext{}, complete: true})
	}
	return uses
}

// custom reports whether another handshaker than Envoy's own reads the context.
func (u use) custom() bool { return u.common.GetCustomHandshaker() != nil }

// native returns the uses in which Envoy's own handshaker reads certificates.
func native(uses []use) []use { return slices.DeleteFunc(uses, use.custom) }

// rejectLate reports what Envoy rejects as soon as it has all secrets of a context.
func rejectLate(p *lint.Pass, at lint.At, uses []use, r lint.Rejection) {
	overSDS := at.Resource().Kind == graph.Secret && at.Resource().Delivery == graph.OverXDS
	if overSDS || slices.ContainsFunc(uses, func(u use) bool { return u.complete }) {
		p.Reject(at, r)
		return
	}
	p.Report(at, lint.Diagnostic{
		Message: r.Message, Notes: []string{"Envoy rejects the secrets for this context when they arrive over SDS, so every connection fails"},
		Help: r.Help, Fixes: r.Fixes, Related: r.Related,
	})
}

// dataOf returns what a data source holds, and whether that is known. What a template still has to fill in is not.
func dataOf(at lint.At, s *corev3.DataSource) (data []byte, ok bool) {
	data, ok = envoy.Data(at, s)
	return data, ok && !tree.IsPlaceholder(strings.TrimSpace(s.GetInlineString()))
}

// saysEmpty returns the gist of what Envoy says of an empty data source that must not be empty.
func saysEmpty(s *corev3.DataSource) string {
	if s.GetFilename() != "" {
		return "is empty"
	}
	return "DataSource cannot be empty"
}

// eachContext calls f for every TLS context that Envoy builds, with the place of its common_tls_context.
func eachContext(f func(p *lint.Pass, at lint.At, u use)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, _ *tlsv3.CommonTlsContext) {
		if u, ok := useAround(p, at.Place); ok {
			f(p, at, u)
		}
	})
}

// eachCertificate calls f for every TLS certificate that Envoy uses.
func eachCertificate(f func(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate, uses []use)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate) {
		if uses := native(usesOf(p, at.Place, "tls_certificate_sds_secret_configs")); len(uses) > 0 {
			f(p, at, c, uses)
		}
	})
}

// eachValidation calls f for every validation context that Envoy uses by itself, and not together with another one.
func eachValidation(f func(p *lint.Pass, at lint.At, v *tlsv3.CertificateValidationContext, uses []use)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, v *tlsv3.CertificateValidationContext) {
		if uses := validationUses(p, at); len(uses) > 0 {
			f(p, at, v, uses)
		}
	})
}

// validationUses returns the TLS contexts that use a validation context by itself.
func validationUses(p *lint.Pass, at lint.At) []use {
	if at.Place.Path.Name() == "default_validation_context" {
		return nil
	}
	uses := usesOf(p, at.Place, "validation_context_sds_secret_config")
	if at.Resource().Kind == graph.Secret {
		uses = slices.DeleteFunc(uses, func(u use) bool { return u.common.GetCombinedValidationContext() != nil })
	}
	return uses
}
