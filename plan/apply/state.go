package apply

import (
	"fmt"
	"maps"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/plan"
)

// urls and kinds are those of go-control-plane's types. The kind of a type that Envoy does not know is empty.
var (
	urls  [types.UnknownType]string
	kinds [types.UnknownType]graph.Kind
)

func init() {
	for t := range types.UnknownType {
		urls[t], _ = cachev3.GetResponseTypeURL(t) // it knows all of them
		kinds[t] = graph.KindOf(decode.TypeName(urls[t]))
	}
}

func typeOf(kind graph.Kind) (types.ResponseType, error) {
	for t, known := range kinds {
		if known == kind && kind != "" {
			return types.ResponseType(t), nil
		}
	}
	return 0, fmt.Errorf("go-control-plane does not serve a %s", kind)
}

// state is what a cache holds for a node. Its maps are never modified, since the cache may read them at any time.
type state [types.UnknownType]cachev3.Resources

func stateOf(s cachev3.ResourceSnapshot) state {
	var made state
	for t, url := range urls {
		made[t] = cachev3.Resources{Version: s.GetVersion(url), Items: s.GetResourcesAndTTL(url)}
	}
	return made
}

func (s state) snapshot() *cachev3.Snapshot { return &cachev3.Snapshot{Resources: s} }

// with returns the resources of a type after a send.
func (s state) with(t types.ResponseType, send plan.Send, target cachev3.ResourceSnapshot) map[string]types.ResourceWithTTL {
	items := maps.Clone(s[t].Items)
	if items == nil {
		items = map[string]types.ResourceWithTTL{}
	}
	ttls := target.GetResourcesAndTTL(urls[t])
	for _, u := range send.Update {
		item := types.ResourceWithTTL{Resource: u.Message, TTL: ttls[u.Name].TTL}
		if u.Content == plan.Old {
			item.TTL = s[t].Items[u.Name].TTL
		}
		items[u.Name] = item
	}
	for _, name := range send.Remove {
		delete(items, name)
	}
	return items
}

// after returns the state after a phase.
func (s state) after(phase plan.Phase, target cachev3.ResourceSnapshot) state {
	for _, send := range phase.Send {
		if t, err := typeOf(send.Kind); err == nil {
			s[t].Items = s.with(t, send, target)
		}
	}
	return s
}

// last is the state at the end of a plan, with what plans do not cover: TTLs, and types that Envoy does not know.
func (s state) last(target cachev3.ResourceSnapshot) state {
	for t, url := range urls {
		given := target.GetResourcesAndTTL(url)
		if kinds[t] == "" {
			s[t] = cachev3.Resources{Version: target.GetVersion(url), Items: given}
			continue
		}
		items := make(map[string]types.ResourceWithTTL, len(s[t].Items))
		for name, item := range s[t].Items {
			items[name] = types.ResourceWithTTL{Resource: item.Resource, TTL: given[name].TTL}
		}
		s[t].Items = items
	}
	return s
}

// sameTTLs reports whether the resources that both have in common have the same TTLs.
func sameTTLs(a, b map[string]types.ResourceWithTTL) bool {
	for name, one := range a {
		if other, ok := b[name]; ok && (one.TTL == nil) != (other.TTL == nil) || ok && one.TTL != nil && *one.TTL != *other.TTL {
			return false
		}
	}
	return true
}
