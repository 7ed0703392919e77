package conform

import (
	"maps"
	"slices"
	"strconv"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

// watch is what a client is subscribed to of a type, on a stream.
type watch struct {
	*line
	typeURL  string
	names    []string
	wildcard bool
	explicit bool   // the client has named something
	begun    bool   // it has sent a request
	nonce    string // of the last response
	waiting  bool   // for the answer to it
	sent     map[string]string
}

// item is a resource in a response.
type item struct {
	name, version string
	body          *anypb.Any // nil: a heartbeat
	ttl           time.Duration
	wrapped       bool // in SotW, it is in a Resource
}

// sotw takes a request of SotW.
func (w *watch) sotw(q *discoveryv3.DiscoveryRequest) {
	if w.begun && q.GetResponseNonce() != w.nonce {
		return // stale: the answer to the last response says what the client wants
	}
	answer, first := w.waiting, !w.begun
	w.waiting, w.begun = false, true
	names := slices.DeleteFunc(slices.Clone(q.GetResourceNames()), func(name string) bool { return name == "*" })
	w.explicit = w.explicit || len(q.GetResourceNames()) > 0
	wildcard := !w.explicit || len(names) < len(q.GetResourceNames())
	more := wildcard && !w.wildcard || slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(w.names, name) })
	w.names, w.wildcard = names, wildcard
	if first || more || !answer {
		w.respond()
	}
}

// respond sends all that the client is subscribed to. In SotW, only clusters and listeners are sent if there is nothing.
func (w *watch) respond() {
	items := w.items()
	if len(items) == 0 && !w.wildcard && !complete(w.typeURL) {
		return
	}
	w.send(w.version(), items, nil)
}

// delta takes a request of Delta.
func (w *watch) delta(q *discoveryv3.DeltaDiscoveryRequest) {
	first := !w.begun
	w.begun = true
	if q.GetResponseNonce() == w.nonce {
		w.waiting = false
	}
	if first {
		w.wildcard = len(q.GetResourceNamesSubscribe())+len(q.GetResourceNamesUnsubscribe()) == 0
		maps.Copy(w.sent, q.GetInitialResourceVersions())
	}
	for _, name := range q.GetResourceNamesSubscribe() {
		if name == "*" {
			w.wildcard, first = true, true
			continue
		}
		if !slices.Contains(w.names, name) {
			w.names = append(w.names, name)
		}
		w.sent[name] = "" // it is answered in any case
	}
	for _, name := range q.GetResourceNamesUnsubscribe() {
		w.wildcard = w.wildcard && name != "*"
		w.names = slices.DeleteFunc(w.names, func(other string) bool { return other == name })
		delete(w.sent, name)
	}
	if !first && len(q.GetResourceNamesSubscribe()) == 0 {
		return // it asks for nothing: what it has oddly is for the scenario
	}
	items, removed := w.news()
	if len(items)+len(removed) > 0 || first && w.wildcard {
		w.send(w.version(), items, removed)
	}
}

// news returns what a client of Delta lacks, and what it has to remove.
func (w *watch) news() (items []item, removed []string) {
	there := map[string]bool{}
	for _, i := range w.items() {
		there[i.name] = true
		if w.sent[i.name] != i.version {
			items = append(items, i)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.sent)) {
		if !there[name] {
			removed = append(removed, name)
		}
	}
	return items, removed
}

// update sends what has changed.
func (w *watch) update() {
	if !w.Delta {
		w.respond()
		return
	}
	if items, removed := w.news(); len(items)+len(removed) > 0 {
		w.send(w.version(), items, removed)
	}
}

// items returns what the client is subscribed to, as it is now.
func (w *watch) items() (items []item) {
	names := w.names
	if w.wildcard {
		names = slices.Concat(w.host.stock.listed(w.typeURL), names)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if body := w.host.stock.make(w, name); body != nil && !seen[name] {
			items = append(items, item{name: name, version: w.version(), body: body})
		}
		seen[name] = true
	}
	return items
}

func (w *watch) version() string { return strconv.Itoa(w.host.stock.revision[w.typeURL]) }

// send sends a response.
func (w *watch) send(version string, items []item, removed []string) {
	h := w.host
	h.nonces++
	w.nonce, w.waiting = "n"+strconv.Itoa(h.nonces), true
	for _, i := range items {
		w.sent[i.name] = i.version
	}
	for _, name := range removed {
		delete(w.sent, name)
	}
	server := &corev3.ControlPlane{Identifier: "xdslint conform"}
	if w.Delta {
		p := &discoveryv3.DeltaDiscoveryResponse{TypeUrl: w.typeURL, SystemVersionInfo: version, Nonce: w.nonce, RemovedResources: removed, ControlPlane: server}
		for _, i := range items {
			p.Resources = append(p.Resources, i.resource())
		}
		w.recorded.Response(marshal(p))
		w.pass(reply{response: p})
		return
	}
	p := &discoveryv3.DiscoveryResponse{TypeUrl: w.typeURL, VersionInfo: version, Nonce: w.nonce, ControlPlane: server}
	for _, i := range items {
		body := i.body
		if i.wrapped || body == nil {
			body = packed(i.resource())
		}
		p.Resources = append(p.Resources, body)
	}
	w.recorded.Response(marshal(p))
	w.pass(reply{response: p})
}

func (i item) resource() *discoveryv3.Resource {
	r := &discoveryv3.Resource{Name: i.name, Version: i.version, Resource: i.body}
	if i.ttl > 0 {
		r.Ttl = durationpb.New(i.ttl)
	}
	return r
}
