package walk

import (
	"maps"
	"math"
	"slices"
	"strconv"

	commonfaultv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/fault/v3"
	bufferv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/buffer/v3"
	cdnloopv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/cdn_loop/v3"
	faultv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/fault/v3"
	healthcheckv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/health_check/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// buffer follows BufferFilter: a body that is larger than the limit is rejected.
func buffer(j *journey, v visit) bool {
	config, _ := v.Config.(*bufferv3.Buffer)
	if own, ok := v.own.(*bufferv3.BufferPerRoute); ok {
		if own.GetDisabled() {
			return true
		}
		config = own.GetBuffer()
	}
	switch tooMuch := j.request.BodyBytes > int(config.GetMaxRequestBytes().GetValue()); {
	case tooMuch && j.request.HTTP == "2":
		return j.perhaps(v, "whether the body ends with its last frame")
	case tooMuch:
		return j.answers(413, "request_payload_too_large", "-")
	}
	return true
}

// healthCheck follows HealthCheckFilter::decodeHeaders and onComplete.
func healthCheck(j *journey, v visit) bool {
	config, _ := v.Config.(*healthcheckv3.HealthCheck)
	switch j.fitsAll(config.GetHeaders(), j.headers) {
	case match.No:
		return true
	case match.Perhaps:
		return j.perhaps(v, "a regular expression that is not known")
	}
	switch {
	case config.GetPassThroughMode().GetValue() && config.GetCacheTime() == nil:
		return true
	case config.GetPassThroughMode().GetValue():
		return j.perhaps(v, "an answer that it keeps")
	}
	details := "health_check_ok"
	for _, name := range slices.Sorted(maps.Keys(config.GetClusterMinHealthyPercentages())) {
		details = "health_check_ok_cluster_healthy"
		cluster, known := j.cluster(name)
		if cluster == nil && known {
			return j.answers(503, "health_check_failed_no_cluster_found", "LH")
		}
		if cluster == nil {
			return j.perhaps(v, "a cluster that is not in the input")
		}
		if all, known := j.endpoints(cluster); known && len(all) == 0 && config.GetClusterMinHealthyPercentages()[name].GetValue() > 0 {
			return j.answers(503, "health_check_failed_cluster_empty", "LH")
		}
	}
	return j.answers(200, details, "-")
}

// cdnLoop follows CdnLoopFilter::decodeHeaders. Only requests that already have the header can come back.
func cdnLoop(j *journey, v visit) bool {
	if j.headers.has("cdn-loop") {
		return j.perhaps(v, "the header cdn-loop")
	}
	j.headers.change("cdn-loop")
	j.headers.set("cdn-loop", settings[*cdnloopv3.CdnLoopConfig](v).GetCdnId())
	return true
}

// fault follows FaultFilter::decodeHeaders.
func fault(j *journey, v visit) bool {
	config := settings[*faultv3.HTTPFault](v)
	name := config.GetUpstreamCluster()
	switch {
	case name != "" && j.answer.Weighted[name] != nil:
		return j.perhaps(v, "the cluster, which chance chooses")
	case name != "" && (j.level == nil || j.level.Route.GetRoute() == nil || name != j.answer.Target):
		return true
	case len(config.GetDownstreamNodes()) > 0:
		return j.perhaps(v, "the node of the client")
	case j.fitsAll(config.GetHeaders(), j.headers) == match.No:
		return true
	case config.GetMaxActiveFaults() != nil:
		return j.perhaps(v, "other requests")
	}
	return j.delay(v, config.GetDelay()) && j.abort(v, config.GetAbort())
}

// delay notes the flag of a delay.
func (j *journey) delay(v visit, d *commonfaultv3.FaultDelay) bool {
	if d == nil {
		return true
	}
	length := d.GetFixedDelay().AsDuration().Milliseconds()
	if d.GetHeaderDelay() != nil {
		length, _ = strconv.ParseInt(j.first("x-envoy-fault-delay-request"), 10, 64)
	}
	switch share := j.percentage(d.GetPercentage(), d.GetHeaderDelay() != nil, "x-envoy-fault-delay-request-percentage", "fault.http.delay.fixed_delay_percent"); {
	case share == match.No || length <= 0:
		return true
	case share == match.Perhaps:
		return j.perhaps(v, "a share of the traffic")
	}
	j.delayed = true
	return true
}

// abort answers instead of the upstream.
func (j *journey) abort(v visit, a *faultv3.FaultAbort) bool {
	if a == nil {
		return true
	}
	status, ok := j.abortStatus(a)
	byHeader := a.GetHeaderAbort() != nil
	switch share := j.percentage(a.GetPercentage(), byHeader, "x-envoy-fault-abort-request-percentage", "fault.http.abort.abort_percent"); {
	case share == match.No || !ok:
		return true
	case share == match.Perhaps:
		return j.perhaps(v, "a share of the traffic")
	}
	return j.answers(status, "fault_filter_abort", "FI")
}

func (j *journey) abortStatus(a *faultv3.FaultAbort) (status int, ok bool) {
	switch by := a.GetErrorType().(type) {
	case *faultv3.FaultAbort_HttpStatus:
		return int(j.runtime.Integer("fault.http.abort.http_status", uint64(by.HttpStatus))), true
	case *faultv3.FaultAbort_GrpcStatus:
		return 200, true
	}
	if n, err := strconv.Atoi(j.first("x-envoy-fault-abort-request")); err == nil && n >= 200 && n < 600 {
		return n, true
	}
	_, err := strconv.Atoi(j.first("x-envoy-fault-abort-grpc-request"))
	return 200, err == nil
}

// percentage reports whether a request gets a fault. With byHeader, a header can make the part smaller.
func (j *journey) percentage(p *typev3.FractionalPercent, byHeader bool, name, key string) match.Overlap {
	numerator := uint64(p.GetNumerator())
	if byHeader {
		if asked, err := strconv.ParseUint(j.first(name), 10, 32); err == nil {
			numerator = min(numerator, asked)
		}
	}
	if set := j.runtime.Integer(key, math.MaxUint64); set != math.MaxUint64 {
		return j.share(key, set, 100)
	}
	return j.share("", numerator, match.Denominator(p.GetDenominator()))
}
