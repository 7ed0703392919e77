package walk

import (
	"math"

	commonratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	localratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ratelimit/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// localRateLimit follows Filter::decodeHeaders of the local rate limit. No bucket is filled again before the request.
func localRateLimit(j *journey, v visit) bool {
	config := settings[*localratelimitv3.LocalRateLimit](v)
	if config.GetFilterEnabled() == nil {
		return true
	}
	switch enabled := j.fraction(config.GetFilterEnabled()); enabled {
	case match.No:
		return true
	case match.Perhaps:
		return j.perhaps(v, "a share of the traffic")
	}
	allowed, why := j.allows(v, config)
	switch {
	case why != "":
		return j.perhaps(v, why)
	case allowed:
		return true
	}
	enforced := match.No
	if config.GetFilterEnforced() != nil {
		enforced = j.fraction(config.GetFilterEnforced())
	}
	switch enforced {
	case match.Perhaps:
		return j.perhaps(v, "a share of the traffic")
	case match.No:
		j.evaluate(j.headers, config.GetRequestHeadersToAddWhenNotEnforced(), nil, func(name, why string) { j.answer.doubt("added."+name, why) })
		return true
	}
	j.mutateAnswer(config.GetResponseHeadersToAdd(), nil)
	status := int(config.GetStatus().GetCode())
	if status < 400 {
		status = 429
	}
	return j.answers(status, "local_rate_limited", "RL")
}

// allows follows LocalRateLimiterImpl::requestAllowed. why is not empty if that is not known.
func (j *journey) allows(v visit, config *localratelimitv3.LocalRateLimit) (allowed bool, why string) {
	var all []descriptor
	if len(config.GetDescriptors()) > 0 {
		if all, why = j.descriptors(v); why != "" {
			return false, why
		}
	}
	taken := map[*commonratelimitv3.LocalRateLimitDescriptor]uint64{}
	for _, d := range all {
		if found := bucketOf(config.GetDescriptors(), d); found != nil {
			taken[found] += d.hits
		}
	}
	allowed = true
	for found, hits := range taken {
		allowed = allowed && j.fits(config, found.GetTokenBucket(), hits)
	}
	if always := config.GetAlwaysConsumeDefaultTokenBucket(); len(taken) == 0 || always == nil || always.GetValue() {
		allowed = allowed && (config.GetTokenBucket() == nil || j.fits(config, config.GetTokenBucket(), 1))
	}
	return allowed, ""
}

// fits reports whether a bucket has enough for the request, after the same ones before it.
func (j *journey) fits(config *localratelimitv3.LocalRateLimit, b *typev3.TokenBucket, hits uint64) bool {
	nth := uint64(max(j.request.Nth, 1))
	if config.GetLocalRateLimitPerDownstreamConnection() {
		nth = 1
	}
	return hits <= math.MaxUint32 && nth <= uint64(b.GetMaxTokens())/hits
}

// bucketOf returns the descriptor of the configuration with the same entries, or else one that leaves values open.
func bucketOf(all []*commonratelimitv3.LocalRateLimitDescriptor, d descriptor) *commonratelimitv3.LocalRateLimitDescriptor {
	for _, open := range []bool{false, true} {
		for _, each := range all {
			if sameEntries(each, d, open) {
				return each
			}
		}
	}
	return nil
}

func sameEntries(configured *commonratelimitv3.LocalRateLimitDescriptor, d descriptor, open bool) bool {
	entries := configured.GetEntries()
	if len(entries) != len(d.entries) {
		return false
	}
	for i, e := range entries {
		if e.GetKey() != d.entries[i].key || e.GetValue() != d.entries[i].value && !(open && e.GetValue() == "") {
			return false
		}
	}
	return true
}

// rateLimit follows Filter::initiateCall of the global rate limit: without descriptors, it does not ask its service.
func rateLimit(j *journey, v visit) bool {
	config, _ := v.Config.(*ratelimitv3.RateLimit)
	internal := j.headers.value(internalHeader) == "true"
	switch {
	case config.GetFilterEnabled() != nil && j.fraction(config.GetFilterEnabled()) == match.No:
		return true
	case config.GetRequestType() == "internal" && !internal, config.GetRequestType() == "external" && internal:
		return true
	}
	if cluster, known := j.cluster(j.answer.Target); cluster == nil && known && len(j.answer.Weighted) == 0 {
		return true
	}
	all, why := j.descriptors(v)
	switch {
	case why != "":
		return j.asks(v, "asks its service, which can limit the request (429), unless there are no descriptors, which depends on "+why)
	case len(all) == 0:
		return true
	}
	sent := ""
	for _, d := range all {
		sent += " " + d.String()
	}
	return j.asks(v, "asks its service, which can limit the request (429), about"+sent)
}
