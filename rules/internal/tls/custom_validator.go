package tls

import (
	"fmt"
	"slices"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "custom-validator",
	Severity: lint.Error,
	Summary:  "a custom validator of certificates that Envoy does not have, or whose trust bundles it cannot read",
	Links: []string{
		"ContextImpl::ContextImpl (source/common/tls/context_impl.cc)",
		"SPIFFEValidator::SPIFFEValidator (source/extensions/transport_sockets/tls/cert_validator/spiffe/spiffe_validator.cc)",
	},
	Run: eachValidation(func(p *lint.Pass, at lint.At, v *tlsv3.CertificateValidationContext, uses []use) {
		validator := v.GetCustomValidatorConfig()
		if validator == nil {
			return
		}
		own := at.Field("custom_validator_config")
		if !hasValidator(p, validator.GetName()) {
			rejectLate(p, own.Field("name"), uses, lint.Rejection{
				Message:  fmt.Sprintf("Envoy does not have a validator %q", validator.GetName()),
				Help:     "write " + spiffeValidator,
				Upstream: "Failed to get certificate validator factory for " + validator.GetName(),
			})
			return
		}
		if validator.GetName() != spiffeValidator {
			return
		}
		config := own.Field("typed_config")
		spiffe, ok := at.Content(validator.GetTypedConfig()).(*tlsv3.SPIFFECertValidatorConfig)
		if !ok {
			checkValidatorType(p, config, validator.GetTypedConfig(), uses)
			return
		}
		if spiffe.GetTrustBundles() != nil {
			checkBundleMap(p, config.Field("trust_bundles"), spiffe, uses)
			return
		}
		checkTrustDomains(p, config, spiffe, uses)
	}),
})

const spiffeValidator = "envoy.tls.cert_validator.spiffe"

// checkValidatorType reports the configuration of something else. Envoy treats an empty one as one of the right type.
func checkValidatorType(p *lint.Pass, at lint.At, config *anypb.Any, uses []use) {
	if name := decode.TypeName(config.GetTypeUrl()); name != "" && !decode.IsTypedStruct(name) && name != nameOf(&tlsv3.SPIFFECertValidatorConfig{}) && len(config.GetValue()) > 0 {
		rejectLate(p, at, uses, lint.Rejection{
			Message:  fmt.Sprintf("%s does not configure the SPIFFE validator", name),
			Help:     "write type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig",
			Upstream: "Unable to unpack as envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig",
		})
	}
}

func hasValidator(p *lint.Pass, name string) bool {
	for _, e := range p.Target.Extensions().ByName(name) {
		if e.Category == "envoy.tls.cert_validator" {
			return true
		}
	}
	return false
}

func checkTrustDomains(p *lint.Pass, at lint.At, spiffe *tlsv3.SPIFFECertValidatorConfig, uses []use) {
	domains := spiffe.GetTrustDomains()
	for i, d := range domains {
		own := at.Item("trust_domains", i)
		before := slices.IndexFunc(domains, func(other *tlsv3.SPIFFECertValidatorConfig_TrustDomain) bool { return other.GetName() == d.GetName() })
		if before < i {
			rejectLate(p, own.Field("name"), uses, lint.Rejection{
				Message:  fmt.Sprintf("the trust domain %q has two bundles", d.GetName()),
				Help:     "put all its certificates into one bundle",
				Upstream: "Multiple trust bundles are given for one trust domain for " + d.GetName(),
				Related:  []lint.Related{lint.RelatedTo(at.Item("trust_domains", before).Field("name"), "the first one")},
			})
			continue
		}
		missing(p, own.Field("trust_bundle"), d.GetTrustBundle(), "Invalid path")
		bundle, ok := dataOf(at, d.GetTrustBundle())
		if !ok && d.GetTrustBundle().GetSpecifier() != nil {
			continue
		}
		if err := boringssl.Bundle(bundle); err != nil {
			rejectLate(p, own.Field("trust_bundle"), uses, lint.Rejection{
				Message:  "Envoy cannot read the certificates of the trust domain: " + err.Error(),
				Help:     "write the certificates of its authorities in PEM",
				Upstream: "Failed to load trusted CA certificate for " + d.GetName(),
			})
		}
	}
}
