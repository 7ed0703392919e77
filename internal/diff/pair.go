package diff

import (
	"fmt"

	"github.com/xdslint/xdslint/graph"
)

// pair finds equal elements of two lists: by the first key, the remaining ones by the second, and so on. An empty key matches nothing. The result
// has the index in the second list for each element of the first, or -1.
func pair[T any](old, now []T, keys ...func(T) string) []int {
	pairs := make([]int, len(old))
	for i := range pairs {
		pairs[i] = -1
	}
	taken := make([]bool, len(now))
	for _, keyOf := range keys {
		free := map[string][]int{}
		for j, one := range now {
			if k := keyOf(one); k != "" && !taken[j] {
				free[k] = append(free[k], j)
			}
		}
		for i, one := range old {
			if pairs[i] >= 0 {
				continue
			}
			if k := keyOf(one); len(free[k]) > 0 {
				pairs[i] = free[k][0]
				taken[pairs[i]] = true
				free[k] = free[k][1:]
			}
		}
	}
	return pairs
}

// last finds the element that is left over if there is exactly one, else -1.
func last(pairs []int, n int) (i, j int) {
	taken := make([]bool, n)
	var old, now []int
	for i, j := range pairs {
		if j >= 0 {
			taken[j] = true
		} else {
			old = append(old, i)
		}
	}
	for j := range taken {
		if !taken[j] {
			now = append(now, j)
		}
	}
	return single(old), single(now)
}

func single(all []int) int {
	if len(all) == 1 {
		return all[0]
	}
	return -1
}

// pairListeners gives listeners and their filter chains places that both sides share: the same address, or else the same name.
func pairListeners(from, to *side) places {
	names := places{listeners: map[*listener]Where{}, chains: map[*chain]string{}}
	taken := map[Where]bool{}
	for _, l := range to.listeners {
		names.put(l, taken)
		names.putChains(l, nil, nil)
	}
	pairs := pair(from.listeners, to.listeners,
		func(l *listener) string { return l.address },
		func(l *listener) string { return l.name() })
	for i, l := range from.listeners {
		if pairs[i] < 0 {
			names.put(l, taken)
			names.putChains(l, nil, nil)
			continue
		}
		same := to.listeners[pairs[i]]
		names.listeners[l] = names.listeners[same]
		names.putChains(l, same, pairChains(l, same))
	}
	return names
}

// places are the names of listeners and filter chains that both sides share.
type places struct {
	listeners map[*listener]Where
	chains    map[*chain]string
}

// put gives a listener a separate place, even if two have the same name and address.
func (p places) put(l *listener, taken map[Where]bool) {
	w := Where{Listener: l.name(), Address: l.address}
	for n := 2; taken[w]; n++ {
		w.Listener = fmt.Sprintf("%s (%d)", l.name(), n)
	}
	taken[w] = true
	p.listeners[l] = w
}

// putChains names the filter chains of a listener: like the equal ones of the same listener on the new side.
func (p places) putChains(l, same *listener, pairs []int) {
	taken := map[string]bool{}
	if same != nil {
		for _, c := range same.chains {
			taken[p.chains[c]] = true
		}
	}
	for i, c := range l.chains {
		if same != nil && pairs[i] >= 0 {
			p.chains[c] = p.chains[same.chains[pairs[i]]]
			continue
		}
		name := c.takes
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s (%d)", c.takes, n)
		}
		taken[name] = true
		p.chains[c] = name
	}
}

func pairChains(old, now *listener) []int {
	name := func(c *chain) string { return c.message.GetName() }
	pairs := pair(old.chains, now.chains,
		func(c *chain) string {
			if name(c) == "" {
				return ""
			}
			return c.exact + " " + name(c)
		},
		func(c *chain) string {
			if old.matcher || now.matcher { // then the matcher chooses by name
				return ""
			}
			return c.exact
		},
		name,
		func(c *chain) string { return least(c.serverNames()) },
		func(c *chain) string { return greatest(c.serverNames()) })
	if i, j := last(pairs, len(now.chains)); i >= 0 && j >= 0 && (len(old.chains[i].serverNames()) == 0 || len(now.chains[j].serverNames()) == 0) {
		pairs[i] = j
	}
	return pairs
}

// pairClusters finds clusters that were only renamed: all facts about them are equal, and the new name did not exist before.
func pairClusters(from, to *side) {
	gone, come := others(from, to), others(to, from)
	if len(gone) == 0 || len(come) == 0 {
		return
	}
	free := map[string][]*graph.Resource{}
	for _, r := range come {
		k := to.clusterKey(r)
		free[k] = append(free[k], r)
	}
	for _, r := range gone {
		k := from.clusterKey(r)
		for i, twin := range free[k] {
			if sameCluster(from, to, r, twin) {
				from.renamed[r.Name] = twin.Name
				free[k] = append(free[k][:i:i], free[k][i+1:]...)
				break
			}
		}
	}
}

// others lists the clusters of one side that get traffic and whose names the other side does not have.
func others(one, other *side) []*graph.Resource {
	names := map[string]bool{}
	for _, r := range other.clusters {
		names[r.Name] = true
	}
	var all []*graph.Resource
	for _, r := range one.clusters {
		if r.Name != "" && !names[r.Name] && one.serves(r) {
			all = append(all, r)
		}
	}
	return all
}

// clusterKey is equal for clusters that may be equal.
func (s *side) clusterKey(r *graph.Resource) string {
	k := ""
	for _, f := range s.alone(r).facts {
		if f.message.message == nil {
			k += f.where.Endpoint + " " + f.what + " " + f.exact + "\n"
		}
	}
	return k
}

// anyCluster is the place of a cluster whose name does not matter.
var anyCluster = Where{Cluster: "\x00"}

// alone returns the facts of one cluster without its name.
func (s *side) alone(r *graph.Resource) *side {
	alone := &side{snapshot: s.snapshot, byKey: map[key]*fact{}, seen: map[*graph.Resource]bool{}, orders: map[Where][]ordered{}, booted: map[Where]bool{}}
	alone.readCluster(r, anyCluster)
	return alone
}

func sameCluster(from, to *side, old, now *graph.Resource) bool {
	d := &Difference{}
	c := comparison{from: from.alone(old), to: to.alone(now), result: d}
	c.facts()
	return len(d.Changes) == 0 && len(d.Unknown) == 0
}
