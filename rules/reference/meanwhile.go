package reference

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	authzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ratelimit/v3"
	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// Meanwhile says what Envoy does for as long as the cluster of a reference is missing, and how bad that is: no error where it serves
// traffic in another way, info where it serves it as it should. Without a message nothing happens.
func Meanwhile(e *graph.Edge) (message string, severity lint.Severity) {
	if note := noteByField[e.Field]; note != "" {
		return note, lint.Error
	}
	switch owner(e) {
	case ruleRoute:
		return "envoy answers the requests with 503 (response flag NC)", lint.Error
	case ruleWeighted:
		return weighted(e)
	case ruleMirror:
		return "envoy drops the mirrored copies in silence; the requests themselves are served", lint.Info
	case ruleTCP:
		return weighted(e)
	case ruleAuthz:
		if filter, ok := around[*authzv3.ExtAuthz](e); ok && filter.GetFailureModeAllow() {
			return "envoy lets all requests pass without authorization (failure_mode_allow)", lint.Error
		}
		return "envoy denies all requests (403, unless status_on_error says otherwise)", lint.Error
	case ruleRateLimit:
		if filter, ok := around[*ratelimitv3.RateLimit](e); ok && filter.GetFailureModeDeny() {
			return "envoy answers the requests with 500 (failure_mode_deny)", lint.Error
		}
		return "envoy does not limit the rate of requests", lint.Info
	case ruleTelemetry:
		return "envoy loses what it would report there", lint.Info
	case ruleAggregate, ruleLocal:
		return "", 0
	case ruleXDS:
		return "what is served from there does not come", lint.Warning
	}
	if filter, ok := around[*extprocv3.ExternalProcessor](e); ok {
		if filter.GetFailureModeAllow() {
			return "envoy lets all requests pass unprocessed (failure_mode_allow)", lint.Warning
		}
		return "envoy answers the requests with 500", lint.Error
	}
	return "what calls it fails", lint.Warning
}

// weighted says which share of the traffic a reference has.
func weighted(e *graph.Edge) (string, lint.Severity) {
	weight, total, what := uint32(1), uint32(1), "answers %s requests with 503 (response flag NC)"
	switch m := e.Place.Message.Interface().(type) {
	case *routev3.WeightedCluster_ClusterWeight:
		weight, total = m.GetWeight().GetValue(), 0
		all, _ := messageOf[*routev3.WeightedCluster](e.Place.Parent)
		for _, c := range all.GetClusters() {
			total += c.GetWeight().GetValue()
		}
	case *tcpproxyv3.TcpProxy_WeightedCluster_ClusterWeight:
		what = "closes %s connections at once"
		weight, total = m.GetWeight(), 0
		all, _ := messageOf[*tcpproxyv3.TcpProxy_WeightedCluster](e.Place.Parent)
		for _, c := range all.GetClusters() {
			total += c.GetWeight()
		}
	case *tcpproxyv3.TcpProxy:
		what = "closes %s connections at once"
	}
	switch {
	case weight == 0:
		return "", 0
	case weight == total:
		return "envoy " + fmt.Sprintf(what, "the"), lint.Error
	}
	return "envoy " + fmt.Sprintf(what, fmt.Sprintf("%.3g %% of the", 100*float64(weight)/float64(total))), lint.Error
}

func around[M proto.Message](e *graph.Edge) (m M, ok bool) {
	return messageOf[M](e.Place.Enclosing(m.ProtoReflect().Descriptor().FullName()))
}
