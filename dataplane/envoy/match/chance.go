package match

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
)

// Chance is a pair of filter chains of which Envoy uses one, for the connections that fit both ranges, and chance decides which.
type Chance struct {
	Unset *listenerv3.FilterChain // that has no range
	Any   *listenerv3.FilterChain // that has the range of all addresses
	Field string                  // that holds the range
}

// Chances returns the pairs of chains at the same place of the tree that have all addresses in the two possible ways, one pair for each place. Envoy puts
// them into a hash table, and after that uses only the last (FilterChainManagerImpl::convertIPsToTries).
func (cs *Chains) Chances() (all []Chance) {
	left := 20 * len(cs.chains) // chains have few values, so that this is enough for all of them
	cs.chances(cs.root, 0, &left, &all)
	return all
}

func (cs *Chains) chances(at *node, l level, left *int, all *[]Chance) {
	if *left--; l == levels || *left < 0 || len(at.chains) == 1 {
		return
	}
	values, below := cs.divide(at, l)
	for _, v := range values {
		if unset := below[value{}]; v.anyAddress() && unset != nil {
			*all = append(*all, Chance{cs.messages[unset.chains[0]], cs.messages[below[v].chains[0]], addressFields[l]})
		}
		cs.chances(below[v], l+1, left, all)
	}
}

// addressFields are the fields of a match that hold the ranges of a level.
var addressFields = map[level]string{
	destination: "prefix_ranges", directSource: "direct_source_prefix_ranges", sourceAddress: "source_prefix_ranges",
}
