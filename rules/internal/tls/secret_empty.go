package tls

import (
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "secret-empty",
	Severity: lint.Error,
	Summary:  "a secret of a bootstrap has only a name",
	Links:    []string{"SecretManagerImpl::addStaticSecret (source/common/secret/secret_manager_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, s *tlsv3.Secret) {
		if at.Place.Parent == nil && at.Resource().Delivery == graph.FromBootstrap && s.GetType() == nil {
			p.Reject(at, lint.Rejection{
				Message:  "the secret is empty",
				Help:     "write tls_certificate, validation_context, session_ticket_keys or generic_secret",
				Upstream: "Secret type not implemented",
			})
		}
	}),
})
