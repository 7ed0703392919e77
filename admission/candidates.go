package admission

import (
	"sync"
	"weak"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
)

// candidates finds what is known about a snapshot that another node has, or is sent. It does not keep it: a candidate goes with the last node
// that has it.
type candidates struct {
	mu     sync.Mutex
	known  map[versionKey][]weak.Pointer[candidate]
	newest weak.Pointer[candidate]
	swept  int // keys after the last sweep
}

// versionKey is the versions of all types. Equal resources mostly have equal ones.
type versionKey [types.UnknownType]string

func versionKeyOf(s cachev3.ResourceSnapshot) (v versionKey) {
	for t, url := range urls {
		v[t] = s.GetVersion(url)
	}
	return v
}

// maxAlike is the number of candidates with the same versions that are kept: a control plane may count them for each node.
const maxAlike = 4

// find returns a candidate for a snapshot whose resources are known in the world, or nil.
func (all *candidates) find(s cachev3.ResourceSnapshot, w world) *candidate {
	all.mu.Lock()
	alike := all.known[versionKeyOf(s)]
	all.mu.Unlock()
	for _, p := range alike {
		if known := p.Value(); known != nil && known.world == w {
			if c := read(s, known); c.opinion == known.opinion {
				return c
			}
		}
	}
	return nil
}

// last returns the candidate that a node was sent last, or an empty one: many resources of another node may be equal.
func (all *candidates) last() *candidate {
	all.mu.Lock()
	defer all.mu.Unlock()
	if known := all.newest.Value(); known != nil {
		return known
	}
	return nothing()
}

// add adds what is known about a candidate.
func (all *candidates) add(c *candidate, s cachev3.ResourceSnapshot) {
	all.mu.Lock()
	defer all.mu.Unlock()
	p := weak.Make(c)
	if p == all.newest && isSame(c.from, s) {
		return
	}
	all.newest = p
	if all.known == nil {
		all.known = map[versionKey][]weak.Pointer[candidate]{}
	}
	v := versionKeyOf(s)
	alike := []weak.Pointer[candidate]{p}
	for _, other := range all.known[v] {
		if other != p && other.Value() != nil && len(alike) < maxAlike {
			alike = append(alike, other)
		}
	}
	all.known[v] = alike
	if len(all.known) > 16+2*all.swept {
		all.sweep()
	}
}

// sweep forgets the versions that no node has any more.
func (all *candidates) sweep() {
	for v, alike := range all.known {
		gone := true
		for _, p := range alike {
			gone = gone && p.Value() == nil
		}
		if gone {
			delete(all.known, v)
		}
	}
	all.swept = len(all.known)
}
