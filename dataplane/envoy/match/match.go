// Package match models how Envoy matches requests and connections: which virtual host takes a host, which routes can
// take the same request, which routes are never reached, and which filter chain takes a connection. It works on
// messages alone and does not report findings.
//
// A certain answer holds for every request that Envoy routes. The path of such a request begins with a slash
// (ConnectionManagerImpl answers others with 404) and is compared without query and fragment (PathMatcher::match).
// Runtime guards are assumed to have their defaults. Custom filters are left out: a filter can replace a path by any
// text, or skip routes by a callback.
package match

// Overlap says whether a request, or a connection, can fit two matches.
type Overlap int

const (
	// No means that no request can fit both.
	No Overlap = iota
	// Perhaps means that it cannot be decided: regular expressions, metadata, shares of the traffic.
	Perhaps
	// Yes means that some request fits both. A match before them may still take it.
	Yes
)

func (o Overlap) String() string { return [...]string{"no", "perhaps", "yes"}[o] }

// both combines two independent conditions that must both hold.
func both(a, b Overlap) Overlap { return min(a, b) }

// either combines two values of which one suffices.
func either(a, b Overlap) Overlap { return max(a, b) }

func certain(yes bool) Overlap {
	if yes {
		return Yes
	}
	return No
}
