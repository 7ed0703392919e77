package apply

import (
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/plan"
)

// known gives the reasons why a wait took too long, as far as they are known.
func (r *run) known(w plan.Wait) []string {
	var all []string
	r.lock(func(n *node) {
		switch {
		case !n.connected():
			all = []string{"no Envoy of this node is connected"}
		case w.For == plan.Unsubscribe:
			for _, user := range n.users(w) {
				all = append(all, user+" still requests it: connections that use it are open")
			}
		default:
			all = r.missing(n, w)
		}
	})
	return all
}

// missing gives the reason why each stream has not ACKed.
func (r *run) missing(n *node, w plan.Wait) []string {
	t, err := typeOf(w.Kind)
	if err != nil {
		return []string{err.Error()}
	}
	clients := n.clients(urls[t])
	if len(clients) == 0 {
		return []string{fmt.Sprintf("no Envoy of this node requests any %s", w.Kind)}
	}
	var all []string
	for _, streams := range clients {
		for _, s := range streams {
			if why := r.why(s, w); why != "" {
				all = append(all, why)
			}
		}
		if unasked := slices.DeleteFunc(slices.Clone(w.Names), func(name string) bool {
			return !r.has(t, name) || slices.ContainsFunc(streams, func(s *stream) bool { return s.subscriptions[urls[t]].asks(name) })
		}); len(unasked) > 0 {
			all = append(all, fmt.Sprintf("%s does not request %s", streams[0], list(w.Kind, unasked)))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (r *run) why(s *stream, w plan.Wait) string {
	t, _ := typeOf(w.Kind) // which missing has looked at
	sub := s.subscriptions[urls[t]]
	unacked := slices.ContainsFunc(w.Names, func(name string) bool { return sub.asks(name) && !r.ackedOn(s, sub, t, name) })
	switch {
	case !unacked:
		return ""
	case len(sub.open) > 0:
		return fmt.Sprintf("%s was sent version %q and has not answered: it may still be warming resources", s, sub.sent)
	}
	if guarded := s.guarded(urls[t]); guarded != nil {
		var extra []string
		for name := range r.cached[t].Items {
			if !guarded.names[name] {
				extra = append(extra, name)
			}
		}
		if len(extra) > 0 {
			slices.Sort(extra)
			return fmt.Sprintf("%s was not sent version %q: it does not request %s, and until it does, a cache for ADS sends it nothing of this type",
				s, r.cached[t].Version, list(w.Kind, extra))
		}
	}
	if s.delta {
		return fmt.Sprintf("%s was not sent what it requests of version %q", s, r.cached[t].Version)
	}
	return fmt.Sprintf("%s was not sent version %q: it last ACKed %q", s, r.cached[t].Version, sub.acked)
}
