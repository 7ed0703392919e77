package conform

import (
	"slices"
	"strconv"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/internal/protocol"
)

// clientScenario is what a management server does to its clients.
type clientScenario struct {
	name string
	run  func(*host)
}

var clientScenarios = []clientScenario{
	{"as it starts", start},
	{"changes", updates},
	{"changes one after the other", inRow},
	{"a resource of another type", foreign},
	{"a resource that cannot be read", unreadable},
	{"a name twice", doubled},
	{"resources that are not asked for", extra},
	{"resources in a Resource", wrapped},
	{"TTLs", expiring},
	{"nothing", nothing},
	{"added and removed", addedAndRemoved},
	{"all removed", allRemoved},
	{"streams end", ending},
	{"streams end without an answer", failing},
	{"types that are not asked for", unasked}, // the last: grpc-go v1.85.0 reads nothing after it
}

// start waits until clients have asked for what they need.
func start(h *host) {
	for range 3 { // what was asked for can be the reason to ask for more
		h.settle()
	}
}

// updates changes each type by itself, and then all.
func updates(h *host) {
	for _, url := range servedTypes {
		h.push(url)
	}
	h.push(servedTypes...)
}

// inRow sends two changes of a type without waiting for the first answer.
func inRow(h *host) {
	for range 2 {
		for _, url := range servedTypes {
			h.stock.revision[url]++
		}
		h.each((*watch).update)
	}
	h.settle()
}

// odd returns a version for what is not the state.
func (h *host) odd() string {
	h.odds++
	return "odd-" + strconv.Itoa(h.odds)
}

// oddly sends each client what it has with a change, one type after the other, and then the right state.
func (h *host) oddly(change func(w *watch, items []item) ([]item, []string)) {
	for _, url := range servedTypes {
		h.each(func(w *watch) {
			if items := w.items(); w.typeURL == url && len(items) > 0 {
				items, removed := change(w, items)
				w.send(h.odd(), items, removed)
			}
		})
		h.settle()
	}
	h.push(servedTypes...)
}

// foreign sends a resource of another type, besides those that are right.
func foreign(h *host) {
	h.oddly(func(w *watch, items []item) ([]item, []string) {
		other := packed(&clusterv3.Cluster{Name: served + "-foreign"})
		if w.typeURL == clusterType {
			other = packed(&routev3.RouteConfiguration{Name: served + "-foreign"})
		}
		return append(items, item{name: served + "-foreign", version: "1", body: other}), nil
	})
}

// unreadable sends the last resource such that it cannot be read.
func unreadable(h *host) {
	h.oddly(func(w *watch, items []item) ([]item, []string) {
		last := &items[len(items)-1]
		last.version, last.body = h.odd(), &anypb.Any{TypeUrl: w.typeURL, Value: []byte("\x0a\xff")} // a name that is cut off
		return items, nil
	})
}

// doubled sends a resource twice, and in Delta also sends and removes it.
func doubled(h *host) {
	h.oddly(func(_ *watch, items []item) ([]item, []string) { return append(items, items[0]), nil })
	h.oddly(func(w *watch, items []item) ([]item, []string) {
		if !w.Delta {
			return items, nil
		}
		return items, []string{items[0].name}
	})
}

// extra sends a resource to clients that have not asked for it.
func extra(h *host) {
	h.oddly(func(w *watch, items []item) ([]item, []string) {
		if w.wildcard {
			return items, nil
		}
		name := served + "-extra"
		return append(items, item{name: name, version: w.version(), body: h.stock.make(w, name)}), nil
	})
}

// unasked sends types that a client has not asked for on an aggregated stream: one that exists and one that does not.
func unasked(h *host) {
	for _, s := range slices.Clone(h.streams) {
		for _, url := range []string{"type.googleapis.com/envoy.service.runtime.v3.Runtime", "type.googleapis.com/xdslint.Unknown"} {
			if s.TypeURL == "" && s.watches[url] == nil {
				w := &watch{line: s, typeURL: url, sent: map[string]string{}}
				w.send(h.odd(), nil, nil)
			}
		}
	}
	h.settle()
	h.push(servedTypes...)
}

// wrapped sends the same again, in SotW in a Resource.
func wrapped(h *host) {
	h.oddly(func(_ *watch, items []item) ([]item, []string) {
		for i := range items {
			items[i].wrapped = true
		}
		return items, nil
	})
}

// long is a TTL that does not end.
const long = time.Hour

// expiring sends resources with TTLs, and their heartbeats. In SotW, Envoy takes a resource without content for a heartbeat
// if its version is that of the last response.
func expiring(h *host) {
	versions := map[*watch]string{}
	for _, heartbeat := range []bool{false, true} {
		h.each(func(w *watch) {
			items := w.items()
			if versions[w] == "" {
				versions[w] = h.odd()
			}
			for i := range items {
				items[i].ttl, items[i].wrapped, items[i].version = long, true, versions[w]
				if heartbeat {
					items[i].body = nil
				}
			}
			if len(items) > 0 {
				w.send(versions[w], items, nil)
			}
		})
		h.settle()
	}
	h.push(servedTypes...)
}

// nothing sends responses without resources that delete nothing that the client uses.
func nothing(h *host) {
	h.each(func(w *watch) {
		switch {
		case w.Delta:
			w.send(h.odd(), nil, []string{served + "-absent"})
		case !complete(w.typeURL):
			w.send(h.odd(), nil, nil)
		}
	})
	h.settle()
	h.push(servedTypes...)
}

// addedAndRemoved adds a cluster, to which routes then refer, and removes it when they no longer do.
func addedAndRemoved(h *host) {
	before := h.stock.clusters
	h.stock.clusters = append(slices.Clone(before), served+"-c")
	h.push(clusterType)
	h.push(routeType, listenerType)
	h.push(endpointType)
	h.stock.clusters = before
	h.push(listenerType, routeType)
	h.push(clusterType)
}

// allRemoved removes everything, beginning with what refers to others, and adds it again.
func allRemoved(h *host) {
	for _, url := range []string{listenerType, clusterType} {
		h.stock.empty[url] = true
		h.push(url)
	}
	for _, url := range []string{clusterType, listenerType} {
		h.stock.empty[url] = false
		h.push(url)
	}
	h.push(servedTypes...)
}

// ending ends all streams, twice, with a change in between.
func ending(h *host) {
	for range 2 {
		before := h.subscribed()
		h.hangUp()
		h.until(func() bool { return len(h.streams) > 0 && h.subscribed() >= before })
		h.settle()
		h.push(servedTypes...)
	}
}

// subscribed returns how many types are subscribed to on all streams.
func (h *host) subscribed() (n int) {
	for _, s := range h.streams {
		n += len(s.ordered)
	}
	return n
}

// failing ends all streams, and the next ones at their first request.
func failing(h *host) {
	before, streams := h.subscribed(), len(h.streams)
	h.rejects, h.ended = true, 0
	h.hangUp()
	h.until(func() bool { return h.ended >= streams*protocol.FewFailures })
	h.rejects = false
	h.until(func() bool { return len(h.streams) > 0 && h.subscribed() >= before })
	h.settle()
	h.push(servedTypes...)
}
