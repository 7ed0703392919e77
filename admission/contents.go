package admission

import (
	"context"
	"maps"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/internal/parallel"
)

// contents are resources by type and name. They are not changed after they were made, and nodes that have the same share them.
type contents struct {
	order []key
	all   []*graph.Resource // in this order
	sent  []types.Resource  // the messages that are served, which can be other copies
	timed bool              // a resource has a TTL

	once  sync.Once
	byKey map[key]*graph.Resource
}

// at returns the resource of a key, or nil.
func (c *contents) at(k key) *graph.Resource {
	c.once.Do(func() {
		c.byKey = make(map[key]*graph.Resource, len(c.all))
		for i, k := range c.order {
			c.byKey[k] = c.all[i]
		}
	})
	return c.byKey[k]
}

// ofType returns where the resources of a type begin and end in the order.
func (c *contents) ofType(t types.ResponseType) (begin, end int) {
	begin = sort.Search(len(c.order), func(i int) bool { return c.order[i].of >= t })
	end = sort.Search(len(c.order), func(i int) bool { return c.order[i].of > t })
	return begin, end
}

// types returns the types of the resources.
func (c *contents) types() (w world) {
	for t := range w {
		begin, end := c.ofType(types.ResponseType(t))
		w[t] = end > begin
	}
	return w
}

// isSame reports whether two snapshots are one. Those of other implementations may not be comparable.
func isSame(a, b cachev3.ResourceSnapshot) bool {
	one, ok := a.(*cachev3.Snapshot)
	other, too := b.(*cachev3.Snapshot)
	return ok && too && one == other
}

// read reads the resources of a snapshot. Resources that are equal in an earlier candidate are taken from there.
func read(s cachev3.ResourceSnapshot, earlier *candidate) *candidate {
	if isSame(earlier.from, s) {
		return earlier
	}
	made := &candidate{from: s}
	for t, url := range urls {
		made.served[t] = cachev3.Resources{Version: s.GetVersion(url), Items: s.GetResourcesAndTTL(url)}
	}
	r := reading{served: &made.served, earlier: earlier, contents: earlier.contents}
	if !r.sameNames() {
		r.sort()
	}
	r.decode()
	made.contents = r.contents
	if len(r.contents.all) == len(earlier.all) && slices.Equal(r.contents.all, earlier.all) {
		made.opinion = earlier.opinion // what is known about them is the same too
	}
	return made
}

// reading reads a snapshot.
type reading struct {
	served   *[types.UnknownType]cachev3.Resources
	earlier  *candidate
	contents *contents // of the earlier candidate, as long as they are the same

	left   []int             // the resources whose messages are not the same as before
	before []*graph.Resource // what they were
}

// sameNames reports whether the names are those of the earlier candidate, as they are with most snapshots. Then nothing is sorted and
// copied, and each name is looked up once.
func (r *reading) sameNames() bool {
	var left [types.UnknownType][]int
	var others atomic.Bool
	parallel.Each(context.Background(), len(left), func() func(int) {
		return func(t int) {
			if kinds[t] == "" {
				return
			}
			var same bool
			if left[t], same = r.sameNamesOf(types.ResponseType(t)); !same {
				others.Store(true)
			}
		}
	})
	if others.Load() {
		return false
	}
	r.left = slices.Concat(left[:]...)
	for _, i := range r.left {
		r.before = append(r.before, r.contents.all[i])
	}
	if len(r.left) > 0 {
		r.contents = &contents{order: r.contents.order, all: slices.Clone(r.contents.all), sent: slices.Clone(r.contents.sent), timed: r.contents.timed}
	}
	return true
}

// sameNamesOf does so for a type, and returns which resources have another message or TTL.
func (r *reading) sameNamesOf(t types.ResponseType) (left []int, same bool) {
	begin, end := r.contents.ofType(t)
	items := r.served[t].Items
	if end-begin != len(items) {
		return nil, false
	}
	for i := begin; i < end; i++ {
		item, ok := items[r.contents.order[i].name]
		if !ok {
			return nil, false
		}
		if item.Resource != r.contents.sent[i] || (item.TTL != nil || r.contents.timed) && !sameTTL(r.contents.all[i], item) {
			left = append(left, i)
		}
	}
	return left, true
}

// sort reads the names in order.
func (r *reading) sort() {
	r.left, r.before, r.contents = nil, nil, &contents{}
	for t := range types.UnknownType {
		if kinds[t] == "" {
			continue
		}
		items := r.served[t].Items
		for _, name := range slices.Sorted(maps.Keys(items)) {
			k := key{t, name}
			before := r.earlier.at(k)
			if before == nil || items[name].Resource != r.earlier.served[t].Items[name].Resource || !sameTTL(before, items[name]) {
				r.left, r.before = append(r.left, len(r.contents.order)), append(r.before, before)
			}
			r.contents.order, r.contents.all = append(r.contents.order, k), append(r.contents.all, before)
			r.contents.sent = append(r.contents.sent, items[name].Resource)
		}
	}
}

func sameTTL(r *graph.Resource, item types.ResourceWithTTL) bool {
	if item.TTL == nil {
		return r.TTL == 0
	}
	return r.TTL == *item.TTL
}

// decode makes the resources whose messages are not the same as before. Where a message is equal, the resource is that from before.
func (r *reading) decode() {
	parallel.Each(context.Background(), len(r.left), func() func(int) {
		return func(n int) {
			i, was := r.left[n], r.before[n]
			k := r.contents.order[i]
			item := r.served[k.of].Items[k.name]
			r.contents.sent[i] = item.Resource
			if was == nil || was.Message == nil || item.Resource == nil || !sameTTL(was, item) || !proto.Equal(was.Message, item.Resource) {
				r.contents.all[i] = resource(k, item)
			}
		}
	})
	for _, i := range r.left {
		r.contents.timed = r.contents.timed || r.contents.all[i].TTL != 0
	}
}

func resource(k key, item types.ResourceWithTTL) *graph.Resource {
	r, err := gocp.Resource(pushed, urls[k.of], k.name, item)
	if err != nil { // treated like a file that cannot be decoded
		r = &graph.Resource{Kind: k.kind(), Name: k.name, File: pushed}
		r.Problems = []graph.Problem{{Kind: graph.Syntax, Message: "this is " + err.Error()}}
	}
	return r
}

// typesOf returns the types of the resources of a snapshot.
func typesOf(s cachev3.ResourceSnapshot) (w world) {
	for t, url := range urls {
		w[t] = kinds[t] != "" && len(s.GetResourcesAndTTL(url)) > 0
	}
	return w
}

func (w world) and(other world) world {
	for t := range w {
		w[t] = w[t] || other[t]
	}
	return w
}
