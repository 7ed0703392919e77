package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
)

func quote(name string) string { return strconv.Quote(name) }

// purpose is the reason for some steps of a phase, with a sentence in which the names of the resources replace %s.
type purpose struct {
	one     string
	several string // for several resources, if it differs
	apart   string // without ADS, if it differs
	is      func(s *step, first, last bool) bool
}

// purposes lists the purposes in the order of a phase's text. A step has the first one that fits.
var purposes = []purpose{
	{is: func(s *step, _, _ bool) bool { return s.removes && s.change == nil }}, // the end of a temporary scope, or not requested for now
	{
		one:     "%s comes first: no request may go there before Envoy ACKs CDS, which it does only when all clusters are warm (endpoints, secrets and the first health check are there)",
		several: "%s come first: no request may go there before Envoy ACKs CDS, which it does only when all clusters are warm (endpoints, secrets and the first health check are there)",
		apart:   "%s: no request may go there before its endpoints are ACKed. Without ADS, Envoy ACKs CDS at once, warm or not. No ACK shows the rest of the warming (health checks, DNS), so allow time for it too",
		is:      func(s *step, _, last bool) bool { return s.Kind == graph.Cluster && added(s) && !last },
	},
	{
		one:     "%s changes: Envoy rebuilds it, and the old one serves until the new one is warm",
		several: "%s change: Envoy rebuilds them, and the old ones serve until the new ones are warm",
		is:      func(s *step, _, _ bool) bool { return s.Kind == graph.Cluster && !added(s) && !s.removes },
	},
	{
		one:     "%s are sent again: Envoy waits for the endpoints of a cluster that changed, and does not ask for them a second time",
		several: "%s are sent again: Envoy waits for the endpoints of clusters that changed, and does not ask for them a second time",
		is: func(s *step, _, _ bool) bool {
			return s.Kind == graph.ClusterLoadAssignment && s.change == nil && s.part == whole
		},
	},
	{
		one:     "%s exists for this plan only: it gets no requests, and makes Envoy fetch the route configuration before any request needs it",
		several: "%s exist for this plan only: they get no requests, and make Envoy fetch the route configurations before any request needs them",
		is:      func(s *step, _, _ bool) bool { return s.part == fetching },
	},
	{
		one:     "%s exists for this plan only: it has the new key while the scope itself is away, since Envoy loses a key that moves between two scopes",
		several: "%s exist for this plan only: they have the new keys while the scopes themselves are away, since Envoy loses a key that moves between two scopes",
		is:      func(s *step, _, _ bool) bool { return s.part == standIn },
	},
	{
		one: "%s: first what is new and what is old together, since requests need the one before they move, and the other until they have moved",
		is:  func(s *step, _, _ bool) bool { return s.part == early },
	},
	{
		one: "%s: first only those that both snapshots have, since a cluster changes how it talks to its endpoints",
		is:  func(s *step, _, _ bool) bool { return s.part == shared },
	},
	{
		one: "%s change only now that the cluster talks to them in the new way",
		is:  func(s *step, _, _ bool) bool { return s.part == following },
	},
	{
		one:     "%s: this change takes away what requests have used until now",
		several: "%s: these changes take away what requests have used until now",
		is:      func(s *step, _, _ bool) bool { return s.part == late },
	},
	{
		one:     "%s gets the content of its successor, so that requests on draining connections take the new routes",
		several: "%s get the contents of their successors, so that requests on draining connections take the new routes",
		is:      func(s *step, _, _ bool) bool { return s.part == succeeding },
	},
	{is: func(s *step, _, _ bool) bool {
		return !s.removes && asked(s.Kind) && added(s) && s.Kind != graph.RouteConfiguration
	}}, // added together with what asks for it
	{
		one: "%s shrink only now that requests go elsewhere",
		is: func(s *step, first, _ bool) bool {
			return s.Kind == graph.ClusterLoadAssignment && s.change != nil && !s.removes && !first && shrinks(s.change)
		},
	},
	{
		one: "%s are added before the requests that need them",
		is: func(s *step, first, last bool) bool {
			return s.Kind == graph.ClusterLoadAssignment && !s.removes && first && !last
		},
	},
	{
		one: "Requests move with %s: everything that they need is there",
		is:  func(s *step, _, _ bool) bool { return carries(s.Kind) && !s.removes },
	},
	{
		one:     "%s is removed: Envoy accepts no new connections there, and drains the existing ones",
		several: "%s are removed: Envoy accepts no new connections there, and drains the existing ones",
		is:      func(s *step, _, _ bool) bool { return s.removes && s.Kind == graph.Listener },
	},
	{
		one:     "%s is removed: nothing refers to it any more",
		several: "%s are removed: nothing refers to them any more",
		is:      func(s *step, _, _ bool) bool { return s.removes && !asked(s.Kind) },
	},
	{is: func(s *step, _, _ bool) bool { return s.removes }}, // removed together with what asked for it
	{one: "%s changes", several: "%s change", is: func(*step, bool, bool) bool { return true }},
}

func added(s *step) bool { return s.change != nil && s.change.Added() }

func carries(kind graph.Kind) bool {
	switch kind {
	case graph.Listener, graph.RouteConfiguration, graph.ScopedRouteConfiguration, graph.VirtualHost:
		return true
	}
	return false
}

// purposesOfGRPC are the purposes for clients of gRPC.
var purposesOfGRPC = []purpose{
	{
		one: "%s: first with an extra route to the next clusters, which no RPC takes, so that clients have these clusters and their endpoints before RPCs go there",
		is:  func(s *step, _, _ bool) bool { return s.part == early },
	},
	{is: func(s *step, _, _ bool) bool { return s.Kind == graph.Cluster && added(s) }}, // together with what asks for it
	{is: func(s *step, _, _ bool) bool { return s.Kind == graph.ClusterLoadAssignment && added(s) }},
	{
		one: "%s shrink only now that RPCs go elsewhere",
		is: func(s *step, first, _ bool) bool {
			return s.Kind == graph.ClusterLoadAssignment && s.change != nil && !s.removes && !first && shrinks(s.change)
		},
	},
	{
		one: "RPCs move with %s: clients have everything that they need",
		is:  func(s *step, first, _ bool) bool { return carries(s.Kind) && !s.removes && !first },
	},
	{
		one:     "%s is removed: no client asks for it any more",
		several: "%s are removed: no client asks for them any more",
		is:      func(s *step, _, _ bool) bool { return s.removes && s.Kind == graph.Cluster },
	},
	{
		one:     "%s is removed: RPCs of its channels fail with UNAVAILABLE",
		several: "%s are removed: RPCs of their channels fail with UNAVAILABLE",
		is:      func(s *step, _, _ bool) bool { return s.removes && s.Kind == graph.Listener },
	},
	{is: func(s *step, _, _ bool) bool { return s.removes }}, // together with what asked for it
	{one: "%s changes", several: "%s change", is: func(*step, bool, bool) bool { return true }},
}

// why returns the reason for a phase in sentences.
func (p *planner) why(steps []*step, waits []Wait, first, last bool) string {
	purposes := purposes
	if p.forGRPC() {
		purposes = purposesOfGRPC
	}
	if first && last {
		return "One push: no change has to come before another one."
	}
	byPurpose := make([][]Resource, len(purposes))
	for _, s := range steps {
		for i, purpose := range purposes {
			if purpose.is(s, first, last) {
				byPurpose[i] = append(byPurpose[i], s.Resource)
				break
			}
		}
	}
	var sentences []string
	for i, resources := range byPurpose {
		format := purposes[i].one
		if several := purposes[i].several; several != "" && len(resources) > 1 {
			format = several
		}
		if apart := purposes[i].apart; apart != "" && !p.opts.Push.Transport.ADS() {
			format = apart
		}
		if len(resources) > 0 && format != "" {
			sentences = append(sentences, sentence(format, resources))
		}
	}
	for _, w := range waits {
		if text := w.why(p.forGRPC()); text != "" {
			sentences = append(sentences, text)
		}
	}
	if len(sentences) == 0 {
		return "Remove resources that are no longer requested."
	}
	return strings.Join(sentences, " ")
}

func sentence(format string, resources []Resource) string {
	text := fmt.Sprintf(format, named(resources))
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// named lists resources by kind: cluster "a", listeners "b", "c".
func named(resources []Resource) string {
	var kinds []graph.Kind
	byKind := map[graph.Kind][]string{}
	for _, r := range resources {
		if byKind[r.Kind] == nil {
			kinds = append(kinds, r.Kind)
		}
		byKind[r.Kind] = append(byKind[r.Kind], quote(r.Name))
	}
	slices.SortStableFunc(kinds, func(a, b graph.Kind) int { return rank(a) - rank(b) })
	var parts []string
	for _, kind := range kinds {
		parts = append(parts, label(kind, len(byKind[kind]) > 1)+" "+list(byKind[kind]))
	}
	return strings.Join(parts, " and ")
}

func label(kind graph.Kind, several bool) string {
	text := strings.ReplaceAll(string(kind), "_", " ")
	switch {
	case kind == graph.ClusterLoadAssignment:
		return "the endpoints of"
	case several:
		return text + "s"
	}
	return text
}

// why returns the reason for a wait. An ACK needs none.
func (w Wait) why(ofGRPC bool) string {
	switch {
	case w.For == Unsubscribe && ofGRPC:
		return fmt.Sprintf("RPCs that have begun may use %s %s until they have an endpoint. Then the client no longer asks for that name.",
			label(w.Kind, len(w.Names) > 1), list(words.Quoted(w.Names)))
	case w.For == Unsubscribe:
		return fmt.Sprintf("Older connections use %s %s until Envoy has closed them. Then it no longer asks for that name.",
			label(w.Kind, len(w.Names) > 1), list(words.Quoted(w.Names)))
	case w.For == Drained:
		return fmt.Sprintf("Older connections use the previous version of listener %s until Envoy closes them, within %s.",
			list(words.Quoted(w.Names)), short(w.Timeout))
	}
	return ""
}

// longest is the maximum length of a list in a text.
const longest = 5

func list(names []string) string { return words.Few(names, longest) }

// short formats a duration without zero units: 10m, not 10m0s.
func short(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
