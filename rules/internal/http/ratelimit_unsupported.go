package http

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	localratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ratelimit/v3"

	"github.com/xdslint/xdslint/internal/format"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ratelimit-unsupported",
	Severity: lint.Error,
	Summary:  "rate_limits in a filter's own configuration have fields that are only for routes",
	Links:    []string{"RateLimitPolicy::RateLimitPolicy (source/extensions/filters/common/ratelimit_config/ratelimit_config.cc)"},
	Run: read.Each(read.Of(func(p *lint.Pass, at lint.At, m *localratelimitv3.LocalRateLimit) {
		checkRateLimits(p, at, m.GetRateLimits(), true)
	}), read.Of(func(p *lint.Pass, at lint.At, m *ratelimitv3.RateLimit) {
		checkRateLimits(p, at, m.GetRateLimits(), p.Target.Before("1.39"))
	}), read.Of(func(p *lint.Pass, at lint.At, m *ratelimitv3.RateLimitPerRoute) {
		checkRateLimits(p, at, m.GetRateLimits(), p.Target.Before("1.39"))
	})),
})

func checkRateLimits(p *lint.Pass, at lint.At, limits []*routev3.RateLimit, noLimit bool) {
	for i, limit := range limits {
		own, addend := at.Item("rate_limits", i), limit.GetHitsAddend()
		if addend != nil && (addend.GetFormat() == "") == (addend.GetNumber() == nil) {
			p.Reject(own.Field("hits_addend"), lint.Rejection{
				Message:  "hits_addend needs one of format and number",
				Help:     "set exactly one of them",
				Upstream: "hits_addend must contain either a format or a number",
			})
		}
		if e, is := format.Check(p.Target, addend.GetFormat(), format.Extensions{}); is {
			p.Reject(own.Field("hits_addend", "format"), lint.Rejection{
				Message:  "hits_addend does not have a format that Envoy can use",
				Help:     "write one command, such as %DYNAMIC_METADATA(envoy.ratelimit:hits)%",
				Upstream: e.Upstream,
			})
		}
		for _, c := range []struct {
			is              bool
			field, upstream string
		}{
			{limit.GetStage() != nil, "stage", "'stage' field and 'disable_key' field are not supported"},
			{limit.GetDisableKey() != "", "disable_key", "'stage' field and 'disable_key' field are not supported"},
			{limit.GetLimit() != nil && noLimit, "limit", "'limit' field is not supported"},
		} {
			if c.is {
				p.Reject(own.Field(c.field).Key(), lint.Rejection{
					Message:  c.field + " is only for the rate_limits of routes and virtual hosts",
					Help:     "remove it",
					Upstream: c.upstream,
				})
			}
		}
	}
}
