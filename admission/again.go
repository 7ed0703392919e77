package admission

import (
	"maps"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph/load/gocp"
)

// CreateDeltaWatch implements cachev3.ConfigWatcher. A node that subscribes to a name gets the resource, or learns that there is none, also if
// the cache takes it to know that.
func (g *Gate) CreateDeltaWatch(request *cachev3.DeltaRequest, sub cachev3.Subscription, answers chan cachev3.DeltaResponse) (cancel func(), err error) {
	return g.SnapshotCache.CreateDeltaWatch(request, owing(request, sub), answers)
}

// owed is a Delta subscription in which names have another version than any resource, so that the cache answers for them.
type owed struct {
	cachev3.Subscription
	returned map[string]string
}

func (o owed) ReturnedResources() map[string]string { return o.returned }

// owing returns a subscription that owes what a request subscribes to, except for what the node has from an earlier stream.
func owing(request *cachev3.DeltaRequest, sub cachev3.Subscription) cachev3.Subscription {
	returned := maps.Clone(sub.ReturnedResources())
	if returned == nil {
		returned = map[string]string{}
	}
	for _, name := range request.GetResourceNamesSubscribe() {
		if _, known := request.GetInitialResourceVersions()[name]; !known && name != "*" {
			returned[name] = ""
		}
	}
	return owed{sub, returned}
}

// settled returns a SotW request that the cache answers only if there is something new. If the node rejects what the snapshot has, the request
// has the version of that: to the cache it is then an ACK. Names next to a wildcard are left out, since they add nothing.
func settled(request *cachev3.Request, sub cachev3.Subscription, now cachev3.ResourceSnapshot) *cachev3.Request {
	url := request.GetTypeUrl()
	again := request.GetErrorDetail() != nil && !gocp.None(now) && maps.Equal(sub.ReturnedResources(), wanted(url, sub, now))
	if !again && !(sub.IsWildcard() && len(request.GetResourceNames()) > 0) {
		return request
	}
	made := proto.CloneOf(request)
	if again {
		made.VersionInfo = now.GetVersion(url)
	}
	if sub.IsWildcard() {
		made.ResourceNames = nil
	}
	return made
}

// wanted maps the names that a subscription is for, and that a snapshot has, to their version.
func wanted(url string, sub cachev3.Subscription, snapshot cachev3.ResourceSnapshot) map[string]string {
	all, asked := map[string]string{}, sub.SubscribedResources()
	for name := range snapshot.GetResourcesAndTTL(url) {
		if _, ok := asked[name]; ok || sub.IsWildcard() {
			all[name] = snapshot.GetVersion(url)
		}
	}
	return all
}
