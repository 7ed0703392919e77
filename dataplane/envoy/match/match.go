// Package match knows what matches what in Envoy: which virtual host takes a host, which routes can take the same
// request and which of them never fires, which filter chain takes a connection. It works on messages alone and reports
// no findings.
//
// Every answer that is certain holds for each request that Envoy routes: its path begins with a slash
// (ConnectionManagerImpl answers others with 404) and is compared without query and fragment (PathMatcher::match), and
// runtime guards are as Envoy ships them. What filters of other people do is left out: one can replace a path by any
// text, or skip routes by a callback.
package match

// Overlap says whether two matches both take some request, or connection.
type Overlap int

const (
	// No request can fit both.
	No Overlap = iota
	// Perhaps is for what cannot be decided: regular expressions, metadata, shares of the traffic.
	Perhaps
	// Yes means that a request which fits both can be written down. Others before them may still take it.
	Yes
)

func (o Overlap) String() string { return [...]string{"no", "perhaps", "yes"}[o] }

// both is for conditions that do not depend on each other.
func both(a, b Overlap) Overlap { return min(a, b) }

// either is for values of which one will do.
func either(a, b Overlap) Overlap { return max(a, b) }

func certain(yes bool) Overlap {
	if yes {
		return Yes
	}
	return No
}
