package prove

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/diff"
	"github.com/xdslint/xdslint/internal/walk"
	"github.com/xdslint/xdslint/internal/words"
)

// listener is a listener of one side.
type listener struct {
	*graph.Resource
	message *listenerv3.Listener
}

func (s *side) listeners() (all []listener) {
	for _, r := range s.view.All(graph.Listener) {
		if m, ok := r.Message.(*listenerv3.Listener); ok && r.State != graph.Failed {
			all = append(all, listener{r, m})
		}
	}
	return all
}

// address is where clients connect to, or empty.
func (l listener) address() string {
	s := l.message.GetAddress().GetSocketAddress()
	if s == nil || s.GetProtocol() == corev3.SocketAddress_UDP {
		return ""
	}
	return net.JoinHostPort(s.GetAddress(), strconv.Itoa(int(s.GetPortValue())))
}

func (l listener) port() uint32 { return l.message.GetAddress().GetSocketAddress().GetPortValue() }

// listeners compares the listeners that have the same address, or else the same name.
func (p *prover) listeners() {
	olds, news := p.old.listeners(), p.now.listeners()
	if len(olds)+len(news) == 0 {
		p.undecided("requests: neither configuration has a listener")
	}
	before, now := byAddress(olds), byAddress(news)
	twin := func(l listener) int {
		if i, ok := now[l.address()]; ok {
			return i
		}
		return slices.IndexFunc(news, func(n listener) bool {
			if l.Name != n.Name {
				return false
			}
			_, taken := before[n.address()]
			return !taken
		})
	}
	paired := map[int]bool{}
	for _, l := range olds {
		if i := twin(l); i >= 0 && !paired[i] {
			paired[i] = true
			p.listenerPair(l, news[i])
		} else {
			p.lonely(l, p.old)
		}
	}
	for i, l := range news {
		if !paired[i] {
			p.lonely(l, p.now)
		}
	}
}

// byAddress returns where the first listener of each address is.
func byAddress(all []listener) map[string]int {
	first := map[string]int{}
	for i, l := range slices.Backward(all) {
		if address := l.address(); address != "" {
			first[address] = i
		}
	}
	return first
}

// lonely shows a listener that only one side has.
func (p *prover) lonely(l listener, s *side) {
	if l.message.GetApiListener() == nil && l.address() != "" {
		for _, c := range chainsOf(l) {
			if p.distinguish(p.wayTo(l, l, c), "", nil) {
				return
			}
		}
	}
	p.undecided(fmt.Sprintf("listener %s: only %s has it", nameOf(l), map[*side]string{p.old: "OLD", p.now: "NEW"}[s]))
}

func nameOf(l listener) string {
	if l.Name != "" {
		return l.Name
	}
	return l.address()
}

func (p *prover) listenerPair(a, b listener) {
	what := "listener " + nameOf(b)
	if a.message.GetApiListener() != nil || b.message.GetApiListener() != nil {
		p.undecided(what + ": it is an API listener")
		return
	}
	before := len(p.result.Differences)
	reasons := diff.Fields(a.Resource, b.Resource, a.message, b.message, listenerNames...)
	if a.address() != b.address() {
		reasons = append(reasons, "address")
		p.lonely(a, p.old)
		p.lonely(b, p.now)
	} else {
		for _, field := range diff.Fields(a.Resource, b.Resource, a.message.GetAddress(), b.message.GetAddress()) {
			reasons = append(reasons, "address."+field)
		}
	}
	p.chains(a, b)
	if len(reasons) > 0 && len(p.result.Differences) == before {
		for _, c := range chainsOf(a) {
			if p.search(p.wayTo(a, b, c)) {
				break
			}
		}
	}
	p.differing(what, reasons)
}

// listenerNames are the fields of a listener that are compared elsewhere, or that requests do not notice.
var listenerNames = []string{
	"envoy.config.listener.v3.Listener.name", "envoy.config.listener.v3.Listener.filter_chains", "envoy.config.listener.v3.Listener.default_filter_chain",
	"envoy.config.listener.v3.Listener.address", "envoy.config.listener.v3.Listener.stat_prefix", "envoy.config.listener.v3.Listener.access_log",
}

// fields notes the fields that differ in two messages. skip names fields that are not compared. It reports whether there are any.
func (p *prover) fields(what string, from, to *graph.Resource, a, b proto.Message, skip ...string) bool {
	found := diff.Fields(from, to, a, b, skip...)
	p.differing(what, found)
	return len(found) > 0
}

// differing notes fields that differ.
func (p *prover) differing(what string, fields []string) {
	if len(fields) > 0 {
		p.undecided(what + ": " + differs(fields))
	}
}

// differs says that fields differ.
func differs(fields []string) string {
	if len(fields) == 1 {
		return fields[0] + " differs"
	}
	return words.Few(fields, 8) + " differ"
}

// listenerOf is how a request names a listener.
func (p *prover) listenerOf(a, b listener) walk.Listener {
	switch {
	case len(p.old.walker.Listeners()) == 1 && len(p.now.walker.Listeners()) == 1 && a.address() == b.address() && a.Resource != b.Resource:
		return walk.Listener{}
	case a.Name == b.Name && a.Name != "" && a.Resource != b.Resource:
		return walk.Listener{Name: a.Name}
	}
	return walk.Listener{Port: a.port()}
}
