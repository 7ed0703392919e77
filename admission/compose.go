package admission

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/proto"
)

// union lists the keys of both candidates, by type and name.
func union(a, b *candidate) []key {
	all := slices.Concat(a.order, b.order)
	slices.SortFunc(all, func(a, b key) int { return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.name, b.name)) })
	return slices.Compact(all)
}

// compose returns what would be pushed.
func (q *quarantine) compose() *candidate {
	c := &candidate{served: q.next.served, contents: &contents{}}
	var unasked map[key]bool
	if !q.all {
		unasked = q.unasked()
	}
	for _, k := range q.order {
		if r, side := q.at(k); r != nil && !unasked[k] {
			c.order = append(c.order, k)
			c.all = append(c.all, r)
			c.sent = append(c.sent, side.served[k.of].Items[k.name].Resource)
		}
	}
	return c.in(q.world, q.next.opinion)
}

// withheld lists the resources that are not pushed as the new snapshot has them.
func (q *quarantine) withheld(c *candidate) []Withheld {
	var all []Withheld
	for _, k := range q.order {
		w := Withheld{Kind: k.kind(), Name: k.name, How: Kept, Why: q.kept[k]}
		_, kept := q.kept[k]
		switch {
		case c.at(k) == nil && q.next.at(k) != nil:
			w.How = LeftOut
			if !kept || q.base.at(k) != nil {
				w.Why = "nothing that is pushed refers to it"
			}
		case !kept || c.at(k) == nil:
			continue
		case q.next.at(k) == nil:
			w.How = Held
		}
		all = append(all, w)
	}
	return all
}

// snapshot returns what would be pushed as a snapshot for the cache. A type of which nothing is withheld gets its new version. A type that does
// not change keeps its version, so that it is not sent.
func (q *quarantine) snapshot(c *candidate, withheld []Withheld) cachev3.ResourceSnapshot {
	made := &cachev3.Snapshot{}
	for i := range made.Resources {
		t := types.ResponseType(i)
		mine := slices.DeleteFunc(slices.Clone(withheld), func(w Withheld) bool { return w.Kind != kinds[t] })
		switch {
		case len(mine) == 0:
			made.Resources[t] = q.next.served[t]
		case q.stays(c, t):
			made.Resources[t] = q.base.served[t]
		default:
			made.Resources[t] = q.mixed(c, t, mine)
		}
	}
	c.served, c.from = made.Resources, made
	switch _, plain := q.judging.snapshot.(*cachev3.Snapshot); {
	case len(withheld) == 0:
		c.from = q.judging.snapshot
	case !plain:
		c.from = overlay{made, q.judging.snapshot}
	}
	return c.from
}

// stays reports whether a type does not change for the node.
func (q *quarantine) stays(c *candidate, t types.ResponseType) bool {
	if q.base.served[t].Version == "" {
		return false
	}
	for _, k := range q.order {
		if k.of == t && c.at(k) != q.base.at(k) && (c.at(k) == nil || q.changes[k]) {
			return false
		}
	}
	return true
}

// mixed returns the new and old resources of a type. The version depends on which are old: each mixture has a different one.
func (q *quarantine) mixed(c *candidate, t types.ResponseType, withheld []Withheld) cachev3.Resources {
	items := map[string]types.ResourceWithTTL{}
	for _, k := range c.order {
		if k.of == t {
			_, from := q.at(k)
			items[k.name] = from.served[t].Items[k.name]
		}
	}
	sum := sha256.New()
	for _, w := range withheld {
		fmt.Fprintf(sum, "%q %s ", w.Name, w.How)
		if item, ok := items[w.Name]; ok {
			content, _ := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(item.Resource)
			fmt.Fprintf(sum, "%d %s", len(content), item.TTL)
			_, _ = sum.Write(content)
		}
	}
	return cachev3.Resources{Version: q.next.served[t].Version + "~" + hex.EncodeToString(sum.Sum(nil))[:8], Items: items}
}

// overlay is another implementation of a snapshot, with Envoy's types replaced.
type overlay struct {
	*cachev3.Snapshot
	rest cachev3.ResourceSnapshot
}

func (o overlay) side(url string) cachev3.ResourceSnapshot {
	if cachev3.GetResponseType(url) == types.UnknownType {
		return o.rest
	}
	return o.Snapshot
}

func (o overlay) GetVersion(url string) string { return o.side(url).GetVersion(url) }

func (o overlay) GetResources(url string) map[string]types.Resource {
	return o.side(url).GetResources(url)
}

func (o overlay) GetResourcesAndTTL(url string) map[string]types.ResourceWithTTL {
	return o.side(url).GetResourcesAndTTL(url)
}

func (o overlay) GetVersionMap(url string) map[string]string { return o.side(url).GetVersionMap(url) }

func (o overlay) ConstructVersionMap() error {
	if err := o.rest.ConstructVersionMap(); err != nil {
		return err
	}
	return o.Snapshot.ConstructVersionMap()
}
