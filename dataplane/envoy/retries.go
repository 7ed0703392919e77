package envoy

import (
	"slices"
	"strings"
	"time"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
)

// RetryConditions are the conditions of retry_on (RetryStateImpl::parseRetryOn). Envoy ignores all others.
var RetryConditions = []string{
	"5xx", "gateway-error", "connect-failure", "envoy-ratelimited", "retriable-4xx", "refused-stream", "retriable-status-codes", "retriable-headers",
	"reset", "reset-before-request", "http3-post-connect-failure",
}

// RetryGRPC are the further conditions of retry_on, about the gRPC status in the headers of a response (RetryStateImpl::parseRetryGrpcOn).
var RetryGRPC = []string{"cancelled", "deadline-exceeded", "resource-exhausted", "unavailable", "internal"}

// RetryOn returns the conditions in a retry_on, as they are written.
func RetryOn(policy *routev3.RetryPolicy) (all []string) {
	for token := range strings.SplitSeq(policy.GetRetryOn(), ",") {
		if token = strings.TrimSpace(token); token != "" {
			all = append(all, token)
		}
	}
	return all
}

// RetriesOn reports whether a retry policy has one of some conditions.
func RetriesOn(policy *routev3.RetryPolicy, conditions ...string) bool {
	return slices.ContainsFunc(RetryOn(policy), func(token string) bool { return slices.Contains(conditions, token) })
}

// Retries reports whether a retry policy has a condition that Envoy knows.
func Retries(policy *routev3.RetryPolicy) bool {
	return RetriesOn(policy, RetryConditions...) || RetriesOn(policy, RetryGRPC...)
}

// defaultRouteTimeout is the timeout of a route that does not set one.
const defaultRouteTimeout = 15 * time.Second

// RouteTimeout returns the timeout for all tries of a request together, or 0 if there is none. known is false if it depends on the request
// (FilterUtility::finalTimeout).
func RouteTimeout(a *routev3.RouteAction) (timeout time.Duration, known bool) {
	switch {
	case a.GetMaxStreamDuration() != nil:
		return 0, true
	case a.GetMaxGrpcTimeout() != nil: //nolint:staticcheck // deprecated, and in use
		return 0, false
	case a.GetTimeout() == nil:
		return defaultRouteTimeout, true
	}
	return a.GetTimeout().AsDuration().Truncate(time.Millisecond), true
}

// defaultStreamIdle is the stream_idle_timeout of a connection manager that does not set one.
const defaultStreamIdle = 5 * time.Minute

// StreamIdleTimeout returns how long a stream may be idle, or 0 if it is not limited. The limit of a route overrides that of its manager.
func StreamIdleTimeout(m *hcmv3.HttpConnectionManager, a *routev3.RouteAction) time.Duration {
	switch {
	case a.GetIdleTimeout() != nil:
		return a.GetIdleTimeout().AsDuration()
	case m.GetStreamIdleTimeout() != nil:
		return m.GetStreamIdleTimeout().AsDuration()
	}
	return defaultStreamIdle
}
