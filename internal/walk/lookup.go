package walk

import (
	"net/netip"
	"strconv"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// Lookup is a request to a route configuration alone, without a listener and filters, as Envoy's router_check_tool makes it
// (test/tools/router_check/router.cc).
type Lookup struct {
	Request  []Header // with the pseudo headers
	Response []Header // of the upstream
	Random   uint64   // chooses weighted clusters and parts of the traffic
	Runtime  string   // the runtime key that is set; no request is in a part of the traffic that has another key
	Metadata map[string]*structpb.Struct
}

// Found is what a route configuration does with a Lookup.
type Found struct {
	Answer            *Answer
	Forwards          bool   // to Answer.Target
	Replies           bool   // with Answer.Status
	Location          string // where a reply leads, whatever its status is
	VirtualCluster    string
	Request, Response []Header // as the route leaves them
}

// share follows RouterCheckTool::runtimeMock. A part of 0 % counts as 1 % so that it can be tested.
func (l *Lookup) share(key string, numerator, denominator uint64) match.Overlap {
	return certain(l.Runtime != "" && key == l.Runtime && l.Random%denominator < max(numerator, 1))
}

// LookUp finds the route of a request in a route configuration, and does what the route says.
func (w *Walker) LookUp(t *envoy.RouteTable, l *Lookup) *Found {
	j := &journey{
		Walker: w, request: &Request{}, answer: &Answer{}, manager: &manager{message: &hcmv3.HttpConnectionManager{}}, table: w.tableOf(t), headers: &headers{},
		lookup: l, metadata: l.Metadata,
	}
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	j.conn.Source, j.conn.Direct = netip.AddrPortFrom(loopback, 0), loopback
	for _, h := range l.Request {
		j.headers.append(h[0], h[1])
	}
	for _, h := range l.Response {
		j.response.add(h[0], h[1])
	}
	j.sent = j.headers.clone()
	f := &Found{Answer: j.answer}
	if j.findHost() {
		j.follow(f)
	}
	f.Request, f.Response = j.headers.list, j.response.list
	return f
}

// follow does what the route says, except that no cluster has to exist (RouterCheckTool::finalizeHeaders).
func (j *journey) follow(f *Found) {
	switch {
	case j.redirect:
		j.reply(301, "")
		j.route()
		f.Replies, f.Location = true, *j.answer.Location
		return
	case j.level == nil:
		return
	}
	switch action := j.level.Route.GetAction().(type) {
	case *routev3.Route_Redirect:
		f.Replies, f.Location = true, j.location(action.Redirect)
		j.reply(redirectStatus[action.Redirect.GetResponseCode()], "")
		j.route()
	case *routev3.Route_DirectResponse:
		f.Replies, f.Location = true, j.location(nil)
		j.reply(int(action.DirectResponse.GetStatus()), action.DirectResponse.GetBody().GetInlineString()+string(action.DirectResponse.GetBody().GetInlineBytes()))
		j.route()
	case *routev3.Route_Route:
		f.Forwards = true
		j.finalize(j.headers, action.Route)
		j.mutateResponse()
		f.VirtualCluster = j.virtualCluster()
	}
}

// reply notes the headers of a local reply (Utility::prepareLocalReply).
func (j *journey) reply(status int, body string) {
	j.response.add(":status", strconv.Itoa(status))
	if body != "" {
		j.response.set("content-length", strconv.Itoa(len(body)))
		j.response.set(contentType, "text/plain")
	}
}

// virtualCluster follows CommonVirtualHostImpl::virtualClusterFromEntries.
func (j *journey) virtualCluster() string {
	all := j.host.level.Host.GetVirtualClusters()
	for _, c := range all {
		switch j.fitsAll(c.GetHeaders(), j.headers) {
		case match.Yes:
			return c.GetName()
		case match.Perhaps:
			j.answer.doubt("virtual_cluster", "the virtual cluster "+c.GetName()+" depends on a matcher that is not modelled")
			return ""
		}
	}
	if len(all) > 0 {
		return "other"
	}
	return ""
}
