package envoy

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	authzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ratelimit/v3"
	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"

	"github.com/xdslint/xdslint/graph"
)

// Impact is how something that Envoy does not have affects traffic.
type Impact uint8

// The impacts, from least to worst.
const (
	NoImpact      Impact = iota
	TrafficServed        // requests are served as intended
	Uncertain            // requests are served differently, or it is not known what fails
	TrafficFails         // requests fail
)

// Meanwhile describes what Envoy does while the cluster of a reference is missing, and how that affects traffic. The message is empty if
// nothing happens.
func Meanwhile(e *graph.Edge) (message string, impact Impact) {
	if note := noteByField[e.Field]; note != "" {
		return note, TrafficFails
	}
	switch RoleOf(e) {
	case RouteCluster:
		return "Envoy answers the requests with 503 (response flag NC)", TrafficFails
	case WeightedCluster:
		return weighted(e)
	case MirrorCluster:
		return "Envoy silently drops the mirrored copies; the requests themselves are served", TrafficServed
	case ProxiedCluster:
		return weighted(e)
	case TelemetryCluster:
		return "Envoy drops the data that it would send there", TrafficServed
	case MemberCluster, LocalCluster:
		return "", NoImpact
	case ConfigServerCluster:
		return "the resources that it serves do not arrive", Uncertain
	}
	if message, impact := unanswered(e, "all requests"); message != "" {
		return message, impact
	}
	return "calls to it fail", Uncertain
}

// Interrupted describes what Envoy does with requests for which it waits for an answer from the cluster of a reference when it replaces the
// cluster by a changed one: the call fails. The message is empty if no request waits.
func Interrupted(e *graph.Edge) (message string, impact Impact) {
	return unanswered(e, "their requests")
}

// unanswered describes what Envoy does with requests for which a filter gets no answer.
func unanswered(e *graph.Edge, requests string) (message string, impact Impact) {
	switch RoleOf(e) {
	case AuthzCluster:
		if filter, _ := graph.Around[*authzv3.ExtAuthz](e.Place); filter.GetFailureModeAllow() {
			return fmt.Sprintf("Envoy lets %s pass without authorization (failure_mode_allow)", requests), TrafficFails
		}
		return fmt.Sprintf("Envoy denies %s (403, unless status_on_error says otherwise)", requests), TrafficFails
	case RateLimitCluster:
		if filter, _ := graph.Around[*ratelimitv3.RateLimit](e.Place); filter.GetFailureModeDeny() {
			return fmt.Sprintf("Envoy answers %s with 500, unless status_on_error says otherwise (failure_mode_deny)", requests), TrafficFails
		}
		return fmt.Sprintf("Envoy does not limit the rate of %s", requests), TrafficServed
	}
	filter, inFilter := graph.Around[*extprocv3.ExternalProcessor](e.Place)
	route, inRoute := graph.Around[*extprocv3.ExtProcOverrides](e.Place)
	switch {
	case inFilter == nil && inRoute == nil:
		return "", NoImpact
	case filter.GetFailureModeAllow() || route.GetFailureModeAllow().GetValue():
		return fmt.Sprintf("Envoy lets %s pass unprocessed (failure_mode_allow)", requests), Uncertain
	case inRoute != nil:
		return fmt.Sprintf("Envoy answers %s with 500, unless the filter says otherwise", requests), TrafficFails
	}
	return fmt.Sprintf("Envoy answers %s with 500, unless status_on_error says otherwise", requests), TrafficFails
}

// weighted says what happens to the share of traffic that the reference receives.
func weighted(e *graph.Edge) (string, Impact) {
	weight, total, what := uint32(1), uint32(1), "answers %s requests with 503 (response flag NC)"
	switch m := e.Place.Message.Interface().(type) {
	case *routev3.WeightedCluster_ClusterWeight:
		weight, total = m.GetWeight().GetValue(), 0
		all, _ := graph.As[*routev3.WeightedCluster](e.Place.Parent)
		for _, c := range all.GetClusters() {
			total += c.GetWeight().GetValue()
		}
	case *tcpproxyv3.TcpProxy_WeightedCluster_ClusterWeight:
		what = "closes %s connections at once"
		weight, total = m.GetWeight(), 0
		all, _ := graph.As[*tcpproxyv3.TcpProxy_WeightedCluster](e.Place.Parent)
		for _, c := range all.GetClusters() {
			total += c.GetWeight()
		}
	case *tcpproxyv3.TcpProxy:
		what = "closes %s connections at once"
	}
	switch {
	case weight == 0:
		return "", NoImpact
	case weight == total:
		return "Envoy " + fmt.Sprintf(what, "the"), TrafficFails
	}
	return "Envoy " + fmt.Sprintf(what, fmt.Sprintf("%.3g %% of the", 100*float64(weight)/float64(total))), TrafficFails
}
