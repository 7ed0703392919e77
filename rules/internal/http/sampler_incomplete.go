package http

import (
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

const samplers = "envoy.extensions.tracers.opentelemetry.samplers.v3."

var _ = Rules.Add(&lint.Rule{
	Name:     "sampler-incomplete",
	Severity: lint.Error,
	Summary:  "a sampler of OpenTelemetry does not have the sampler or the expression that decides",
	Links: []string{
		"ParentBasedSamplerFactory::createSampler (source/extensions/tracers/opentelemetry/samplers/parent_based/config.cc)",
		"CELSampler::CELSampler (source/extensions/tracers/opentelemetry/samplers/cel/cel_sampler.cc)",
	},
	Run: read.Each(read.Named(samplers+"ParentBasedSamplerConfig", func(p *lint.Pass, at lint.At, m proto.Message) {
		if dynamic.Sub(m, "wrapped_sampler") == nil {
			p.Reject(at, lint.Rejection{
				Message:  "the sampler does not say how to sample requests without a parent",
				Help:     "add wrapped_sampler",
				Upstream: "Didn't find a registered implementation for '' with type URL: ''",
			})
		}
	}), read.Named(samplers+"CELSamplerConfig", func(p *lint.Pass, at lint.At, m proto.Message) {
		if dynamic.Sub(m, "expression") == nil {
			p.Reject(at, lint.Rejection{
				Message:  "the sampler does not have an expression",
				Help:     "add expression, with cel_expr_parsed or cel_expr_checked",
				Upstream: "CEL expression not set",
			})
		}
	})),
})
