package walk

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
)

// assignment returns the endpoints of a cluster, or nil if they are not in the input, and where they are.
func (w *Walker) assignment(r *graph.Resource) (*endpointv3.ClusterLoadAssignment, graph.At) {
	c, _ := r.Message.(*clusterv3.Cluster)
	if c.GetClusterType() != nil || c.GetType() == clusterv3.Cluster_ORIGINAL_DST {
		return nil, graph.At{}
	}
	if c.GetType() != clusterv3.Cluster_EDS {
		if c.GetLoadAssignment() == nil {
			return &endpointv3.ClusterLoadAssignment{}, r.At()
		}
		return c.GetLoadAssignment(), r.At().Field("load_assignment")
	}
	for _, e := range w.view.From(r) {
		if e.To == nil {
			continue
		}
		if found, ok := e.To.Message.(*endpointv3.ClusterLoadAssignment); ok {
			return found, e.To.At()
		}
	}
	return nil, graph.At{}
}

// Cluster returns where a cluster is, and its endpoints as far as they are in the input. ok is false if the cluster is not.
func (w *Walker) Cluster(name string) (at graph.At, all []Endpoints, ok bool) {
	r, _ := w.cluster(name)
	if r == nil {
		return at, nil, false
	}
	all, _ = w.endpoints(r)
	return r.At(), all, true
}

// Addresses returns the addresses of the endpoints of a cluster, in order.
func (w *Walker) Addresses(name string) (all []string) {
	r, _ := w.cluster(name)
	if r == nil {
		return nil
	}
	groups, _ := w.endpoints(r)
	for _, e := range groups {
		all = append(all, e.Addresses...)
	}
	slices.Sort(all)
	return all
}

// endpoints returns the endpoints of a cluster by priority and locality. known is false if they are not in the input.
func (w *Walker) endpoints(r *graph.Resource) (all []Endpoints, known bool) {
	assigned, at := w.assignment(r)
	if assigned == nil {
		return nil, false
	}
	for i, group := range assigned.GetEndpoints() {
		l := group.GetLocality()
		e := Endpoints{Priority: group.GetPriority(), Locality: strings.Trim(l.GetRegion()+"/"+l.GetZone()+"/"+l.GetSubZone(), "/"), At: at.Item("endpoints", i)}
		for _, endpoint := range group.GetLbEndpoints() {
			e.Addresses = append(e.Addresses, addressOf(endpoint.GetEndpoint().GetAddress()))
		}
		if len(e.Addresses) > 0 {
			all = append(all, e)
		}
	}
	return all, true
}

func addressOf(a *corev3.Address) string {
	if s := a.GetSocketAddress(); s != nil {
		return net.JoinHostPort(s.GetAddress(), strconv.Itoa(int(s.GetPortValue())))
	}
	if i := a.GetEnvoyInternalAddress(); i != nil {
		return "envoy://" + i.GetServerListenerName() + "/" + i.GetEndpointId()
	}
	return a.GetPipe().GetPath()
}

// rewriteByEndpoint follows auto_host_rewrite: the host is the name of the endpoint that the load balancer chooses.
func (j *journey) rewriteByEndpoint(h *headers, action *routev3.RouteAction, r *graph.Resource) {
	if !action.GetAutoHostRewrite().GetValue() {
		return
	}
	var assigned *endpointv3.ClusterLoadAssignment
	if r != nil {
		assigned, _ = j.assignment(r)
	}
	if assigned == nil {
		j.answer.doubt(unknownHost, "it is the name of an endpoint that is not in the input")
		return
	}
	names := map[string]bool{}
	c := r.Message.(*clusterv3.Cluster)
	for _, group := range assigned.GetEndpoints() {
		for _, e := range group.GetLbEndpoints() {
			names[hostName(c, e.GetEndpoint())] = true
		}
	}
	for name := range names {
		switch {
		case len(names) > 1:
			j.answer.doubt(unknownHost, "it is the name of the endpoint that the load balancer chooses")
		case name != "":
			j.setHost(h, action, name)
		}
	}
}

func hostName(c *clusterv3.Cluster, e *endpointv3.Endpoint) string {
	if e.GetHostname() == "" && (c.GetType() == clusterv3.Cluster_STRICT_DNS || c.GetType() == clusterv3.Cluster_LOGICAL_DNS) {
		return e.GetAddress().GetSocketAddress().GetAddress()
	}
	return e.GetHostname()
}

// clusterPolicies returns what a cluster says in place of its routes.
func clusterPolicies(r *graph.Resource) *httpv3.HttpProtocolOptions {
	if r == nil {
		return nil
	}
	c, _ := r.Message.(*clusterv3.Cluster)
	h, _ := envoy.UpstreamHTTPOf(r.At(), c)
	return h.Typed
}

// mirror notes the clusters that get a copy of the request.
func (j *journey) mirror(action *routev3.RouteAction, own *httpv3.HttpProtocolOptions) {
	policies := own.GetRequestMirrorPolicies()
	if len(policies) == 0 {
		policies = action.GetRequestMirrorPolicies()
	}
	if len(policies) == 0 {
		policies = j.level.Host.GetRequestMirrorPolicies()
	}
	if len(policies) == 0 {
		policies = j.level.Table.GetRequestMirrorPolicies()
	}
	for _, p := range policies {
		name := p.GetCluster()
		if p.GetClusterHeader() != "" {
			name = j.first(p.GetClusterHeader())
		}
		share := match.Yes
		if f := p.GetRuntimeFraction(); f != nil {
			share = j.fraction(f)
		}
		if share == match.Perhaps {
			j.answer.doubt("mirrors", "only a part of the requests is mirrored")
		}
		if found, known := j.cluster(name); share == match.Yes && (found != nil || !known) && j.headers.value(method) != "CONNECT" {
			j.answer.Mirrors = append(j.answer.Mirrors, name)
		}
	}
}

// fraction reports whether a request is in a part of the traffic.
func (j *journey) fraction(f *corev3.RuntimeFractionalPercent) match.Overlap {
	p := f.GetDefaultValue()
	return j.share(f.GetRuntimeKey(), uint64(p.GetNumerator()), match.Denominator(p.GetDenominator()))
}

// limits returns the timeouts and retries of a route.
func (j *journey) limits(action *routev3.RouteAction, own *httpv3.HttpProtocolOptions) *Limits {
	l := &Limits{IdleTimeout: envoy.StreamIdleTimeout(j.manager.message, action).String()}
	if timeout, known := envoy.RouteTimeout(action); known {
		l.Timeout = timeout.String()
	} else {
		l.Timeout = fmt.Sprintf("grpc-timeout of the request, at most %s", action.GetMaxGrpcTimeout().AsDuration()) //nolint:staticcheck // in use
	}
	retries := cmp.Or(own.GetRetryPolicy(), action.GetRetryPolicy(), j.level.Host.GetRetryPolicy())
	if envoy.Retries(retries) {
		l.RetryOn, l.Retries = retries.GetRetryOn(), 1
		if retries.GetNumRetries() != nil {
			l.Retries = retries.GetNumRetries().GetValue()
		}
		if retries.GetPerTryTimeout() != nil {
			l.PerTry = retries.GetPerTryTimeout().AsDuration().String()
		}
	}
	hedging := action.GetHedgePolicy()
	if hedging == nil {
		hedging = j.level.Host.GetHedgePolicy()
	}
	l.Hedging = hedging.GetHedgeOnPerTryTimeout()
	return l
}
