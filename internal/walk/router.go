package walk

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/ascii"
)

// The details of what the router answers, or passes on.
const (
	routeNotFound   = "route_not_found"
	directResponse  = "direct_response"
	clusterNotFound = "cluster_not_found"
	noUpstream      = "no_healthy_upstream"
	viaUpstream     = "via_upstream"
)

// suppresses reports whether the router does not add headers of its own.
func (m *manager) suppresses() bool {
	for _, f := range m.filters {
		if config, ok := f.Config.(*routerv3.Router); ok {
			return config.GetSuppressEnvoyHeaders()
		}
	}
	return false
}

// route follows Router::Filter::decodeHeaders.
func (j *journey) route() bool {
	a := j.answer
	if j.redirect {
		j.locate("https://" + j.headers.value(authority) + j.headers.value(path))
		a.local(301, directResponse, "-")
		return false
	}
	if j.level == nil {
		a.local(404, routeNotFound, "NR")
		return false
	}
	switch action := j.level.Route.GetAction().(type) {
	case *routev3.Route_Redirect:
		j.locate(j.location(action.Redirect))
		a.local(redirectStatus[action.Redirect.GetResponseCode()], directResponse, "-")
		j.rewriteRedirected(action.Redirect)
		j.making(answering, j.mutateResponse)
	case *routev3.Route_DirectResponse:
		j.respond(action.DirectResponse)
	case *routev3.Route_Route:
		return j.forward(action.Route)
	case *routev3.Route_NonForwardingAction:
		return j.forward(&routev3.RouteAction{}) // to the cluster without a name, which does not exist
	default:
		a.doubt(unknownStatus, "the route does not have an action that is modelled")
		return j.lost()
	}
	return false
}

// locate notes where a redirect leads. Requests without a path do not get a location.
func (j *journey) locate(url string) {
	if j.headers.has(path) {
		j.answer.Location = &url
	}
}

// respond notes a direct response.
func (j *journey) respond(r *routev3.DirectResponseAction) {
	if j.level.Route.GetRedirect() == nil && r.GetStatus() == 201 || r.GetStatus() >= 300 && r.GetStatus() < 400 {
		j.locate(j.location(nil))
	}
	switch {
	case r.GetBodyFormat() != nil:
		j.answer.doubt("body", "body_format makes it")
	case r.GetBody().GetFilename() != "" || r.GetBody().GetEnvironmentVariable() != "":
		j.answer.doubt("body", "it comes from the machine of Envoy")
	case r.GetBody() != nil && j.headers.value(method) != "HEAD" && r.GetStatus() != 204 && r.GetStatus() != 304:
		text := r.GetBody().GetInlineString() + string(r.GetBody().GetInlineBytes())
		j.answer.Body = &text
	}
	j.answer.local(int(r.GetStatus()), directResponse, "-")
	j.making(answering, j.mutateResponse)
}

// forward sends the request to a cluster.
func (j *journey) forward(action *routev3.RouteAction) bool {
	a := j.answer
	if a.Unknown[unknownCluster] != "" {
		return j.lost()
	}
	if len(a.Weighted) > 0 {
		j.forwardByChance(action)
		return false
	}
	cluster, known := j.cluster(a.Target)
	switch {
	case cluster == nil && !known:
		a.doubt(unknownCluster, fmt.Sprintf("the cluster %q is not in the input", a.Target))
	case cluster == nil:
		a.local(notFoundStatus(action), clusterNotFound, "NC")
		return false
	default:
		a.Endpoints, _ = j.endpoints(cluster)
		switch j.available(cluster, action) {
		case match.Perhaps:
			if assigned, _ := j.assignment(cluster); assigned != nil {
				a.doubt(unknownStatus, "the subsets of the cluster are not modelled")
			}
		case match.No:
			j.finalize(j.headers, action)
			j.countResponse()
			a.local(503, noUpstream, "UH")
			return false
		}
	}
	j.finalize(j.headers, action)
	if j.unsendable() {
		return false
	}
	j.rewriteByEndpoint(j.headers, action, cluster)
	j.count()
	j.upstream(action, cluster)
	a.Cluster = &a.Target
	return false
}

func notFoundStatus(action *routev3.RouteAction) int {
	switch action.GetClusterNotFoundResponseCode() {
	case routev3.RouteAction_NOT_FOUND:
		return 404
	case routev3.RouteAction_INTERNAL_SERVER_ERROR:
		return 500
	}
	return 503
}

// upstream notes what the upstream sees, and what comes back.
func (j *journey) upstream(action *routev3.RouteAction, cluster *graph.Resource) {
	a := j.answer
	status := 200
	if a.Status == nil && a.Unknown[unknownStatus] == "" {
		a.Status = &status
	}
	j.upstreamChange(cluster)
	a.Details, a.Path, a.Host, a.Method = viaUpstream, j.headers.value(path), j.headers.value(authority), j.headers.value(method)
	j.making(responding, j.mutateResponse)
	j.countResponse()
	own := clusterPolicies(cluster)
	j.mirror(action, own)
	a.Limits = j.limits(action, own)
}

const attemptCount = "x-envoy-attempt-count"

// count numbers the attempt, which is the first one.
func (j *journey) count() {
	if j.level.Host.GetIncludeRequestAttemptCount() {
		j.headers.change(attemptCount)
		j.headers.set(attemptCount, "1")
	}
}

// countResponse numbers the attempt in the response, also if it does not find an endpoint.
func (j *journey) countResponse() {
	if j.level.Host.GetIncludeAttemptCountInResponse() {
		j.response.change(attemptCount)
		j.response.set(attemptCount, "1")
	}
}

// finalize follows finalizeRequestHeaders of a route and of a weighted cluster.
func (j *journey) finalize(h *headers, action *routev3.RouteAction) {
	j.making(forwarding, func() { j.mutateRequest(h) })
	if name := j.level.Cluster.GetHostRewriteLiteral(); name != "" {
		h.set(authority, name)
	}
	if strings.HasPrefix(j.port, ":") && match.WithoutPort(h.value(authority)) == h.value(authority) {
		h.set(authority, h.value(authority)+j.port)
	}
	j.rewriteHost(h, action)
	if made, ok := j.rewritePath(action); ok {
		if !j.manager.suppresses() {
			h.change("x-envoy-original-path")
			h.set("x-envoy-original-path", h.value(path))
		}
		h.set(path, made)
	}
}

// unsendable reports whether the codec of the upstream does not take the request (HeaderUtility::checkRequiredRequestHeaders), and notes what
// Envoy then answers: a CONNECT request has a path only if it has a protocol, but rewrites give it one. One that Envoy terminates is not sent.
func (j *journey) unsendable() bool {
	if !j.pathless || !j.headers.has(path) || slices.ContainsFunc(j.level.Route.GetRoute().GetUpgradeConfigs(), terminates) {
		return false
	}
	j.answer.Weighted = nil
	j.answer.local(503, "filter_removed_required_request_headers{missing_required_header:_:protocol}", protocolError)
	return true
}

// terminates reports whether an upgrade ends CONNECT requests in Envoy, which sends their content over TCP.
func terminates(c *routev3.RouteAction_UpgradeConfig) bool {
	return c.GetConnectConfig() != nil && ascii.Lower(c.GetUpgradeType()) == "connect"
}

// forwardByChance notes what each weighted cluster gets.
func (j *journey) forwardByChance(action *routev3.RouteAction) {
	route, before := j.level, j.headers
	var own *graph.Resource // with policies of its own
	var responses []map[string][]string
	for i, c := range action.GetWeightedClusters().GetClusters() {
		share := j.answer.Weighted[j.clusterOf(c)]
		if share == nil {
			continue
		}
		cluster, known := j.cluster(j.clusterOf(c))
		if cluster == nil && known {
			j.answer.doubt(unknownStatus, fmt.Sprintf("chance chooses the cluster, and %q does not exist", j.clusterOf(c)))
		}
		policies := clusterPolicies(cluster)
		if len(policies.GetRequestMirrorPolicies()) > 0 || policies.GetRetryPolicy() != nil {
			own = cluster
		}
		j.level = route
		j.level = j.part(i)
		if cluster != nil && j.available(cluster, action) == match.No {
			j.answer.doubt(unknownStatus, fmt.Sprintf("chance chooses the cluster, and %q does not have an endpoint for the request", j.clusterOf(c)))
		}
		j.headers = before.clone()
		j.headers.changed = maps.Clone(before.changed)
		j.finalize(j.headers, action)
		j.rewriteByEndpoint(j.headers, action, cluster)
		j.count()
		j.upstreamByChance(cluster)
		share.Host = j.headers.value(authority)
		share.Added, _ = j.headers.changes(j.sent)
		responses = append(responses, j.responseNow())
	}
	j.level = route
	if j.unsendable() {
		return
	}
	j.doubtResponse(action)
	j.doubtAgreed(responses)
	j.upstream(action, nil)
	if own != nil {
		j.answer.Mirrors, j.answer.Limits = nil, nil
		j.answer.doubt("mirrors", "it depends on the cluster, which chance chooses")
		j.answer.doubt("limits", "it depends on the cluster, which chance chooses")
	}
	j.answer.Host = j.agreed()
}

// doubtResponse notes that chance decides about headers of the response.
func (j *journey) doubtResponse(action *routev3.RouteAction) {
	for _, c := range action.GetWeightedClusters().GetClusters() {
		if len(c.GetResponseHeadersToAdd())+len(c.GetResponseHeadersToRemove()) > 0 {
			j.answer.doubt("response_added", "it depends on the cluster, which chance chooses")
		}
	}
}

// responseNow returns what the route adds to the response, with the headers of the request as they are now.
func (j *journey) responseNow() map[string][]string {
	before, unknown := j.response, maps.Clone(j.answer.Unknown)
	j.response = headers{}
	j.making(responding, j.mutateResponse)
	added, _ := j.response.changes(&headers{})
	j.response, j.answer.Unknown = before, unknown
	return added
}

// doubtAgreed notes that chance decides about headers of the response that are made of those of the request.
func (j *journey) doubtAgreed(responses []map[string][]string) {
	for _, r := range responses {
		if !maps.EqualFunc(r, responses[0], slices.Equal) {
			j.answer.doubt("response_added", "it depends on the cluster, which chance chooses")
		}
	}
}

// agreed returns the host that all weighted clusters get.
func (j *journey) agreed() string {
	name, first := "", true
	for _, share := range j.answer.Weighted {
		if !first && share.Host != name {
			j.answer.doubt(unknownHost, "it depends on the cluster, which chance chooses")
			return ""
		}
		name, first = share.Host, false
	}
	return name
}

// cluster finds a cluster. known reports whether one that is not found does not exist.
func (w *Walker) cluster(name string) (found *graph.Resource, known bool) {
	if all := w.view.Named(graph.Cluster, name); len(all) > 0 && name != "" {
		return all[0], true
	}
	return nil, name == "" || w.view.World(graph.Cluster, graph.Anywhere) == graph.Closed && !w.view.Assumes(graph.Cluster, name)
}
