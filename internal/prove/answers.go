package prove

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/walk"
)

// distinguish looks for a request that the sides answer differently, among those that an example represents. It reports whether there is one.
func (p *prover) distinguish(w way, authority string, e *match.Example) bool {
	return p.anyDiffers(w, slices.Values(p.variants(w, w.request(authority, e))))
}

// anyDiffers notes the first request that the sides answer differently, and reports whether there is one. Where a filter may answer, it prefers a request
// for which the walk knows whether it does.
func (p *prover) anyDiffers(w way, all iter.Seq[*walk.Request]) bool {
	var doubtful *Difference
	left := maxVariants // after the first that is doubtful
	for r := range all {
		if p.full() || left == 0 {
			break
		}
		if doubtful != nil {
			left--
		}
		d := p.compare(w, r)
		switch {
		case d == nil:
		case !d.doubtful():
			p.result.Differences = append(p.result.Differences, *d)
			return true
		case doubtful == nil && p.differsFrom(w, r):
			doubtful = d
		}
	}
	if doubtful != nil {
		p.result.Differences = append(p.result.Differences, *doubtful)
	}
	return doubtful != nil
}

// differsFrom reports whether the sides answer a request differently that comes from a certain address: a filter may reject all of them.
func (p *prover) differsFrom(w way, r *walk.Request) bool {
	return r.Source != "" || slices.ContainsFunc(sources, func(source string) bool {
		return p.compare(w, with(r, func(r *walk.Request) { r.Source = source })) != nil
	})
}

// compare walks a request on both sides. It returns nil if they do not answer it differently.
func (p *prover) compare(w way, r *walk.Request) *Difference {
	a, b := p.old.answer(r), p.now.answer(r)
	fields := p.differences(a, b)
	if len(fields) == 0 {
		return nil
	}
	d := &Difference{Request: r, Fields: fields, Curl: r.Curl(w.address, slices.Collect(maps.Keys(p.values.Headers))...)}
	if a != nil {
		d.Old = a.Redacted()
	}
	if b != nil {
		d.New = b.Redacted()
	}
	return d
}

// doubtful reports whether a filter on one of the sides may answer.
func (d *Difference) doubtful() bool {
	return d.Old != nil && d.Old.Unknown["status"] != "" || d.New != nil && d.New.Unknown["status"] != ""
}

// answer walks a request. It returns nil if no listener takes the connection.
func (s *side) answer(r *walk.Request) *walk.Answer {
	a, err := s.walker.Walk(r)
	if err != nil {
		return nil
	}
	return a
}

// differences returns the fields in which two answers certainly differ, as clients and upstreams see them. The names of chains and routes are not among
// them.
func (p *prover) differences(a, b *walk.Answer) (all []string) {
	if a == nil || b == nil {
		if a != b {
			return []string{"listener"}
		}
		return nil
	}
	unknown := func(field string) bool { return a.Unknown[field] != "" || b.Unknown[field] != "" }
	add := func(field string, x, y any) {
		if !unknown(field) && fmt.Sprint(x) != fmt.Sprint(y) {
			all = append(all, field)
		}
	}
	if !unknown("status") {
		add("status", value(a.Status), value(b.Status))
		add("location", value(a.Location), value(b.Location))
		if a.Cluster == nil && b.Cluster == nil && len(a.Weighted)+len(b.Weighted) == 0 {
			add("body", value(a.Body), value(b.Body))
		}
	}
	if unknown("cluster") {
		return all
	}
	if !p.ByEndpoints {
		add("cluster", clustersIn(a), clustersIn(b))
	}
	if len(all) == 0 {
		add("endpoints", p.old.reached(a), p.now.reached(b))
	}
	if forwards(a) && forwards(b) {
		add("method", a.Method, b.Method)
		add("path", a.Path, b.Path)
		add("host", a.Host, b.Host)
		add("mirrors", p.old.mirrored(a), p.now.mirrored(b))
		for _, name := range namesIn(a.Added, b.Added) {
			add("added."+name, a.Added[name], b.Added[name])
		}
		add("removed", a.Removed, b.Removed)
	}
	if !unknown("status") && !unknown("response_added") {
		for _, name := range namesIn(a.ResponseAdded, b.ResponseAdded) {
			add("response_added."+name, a.ResponseAdded[name], b.ResponseAdded[name])
		}
		add("response_removed", a.ResponseRemoved, b.ResponseRemoved)
	}
	return all
}

func value[T any](p *T) string {
	if p == nil {
		return ""
	}
	return fmt.Sprint(*p) + "."
}

func forwards(a *walk.Answer) bool { return a.Cluster != nil || len(a.Weighted) > 0 }

func namesIn(a, b map[string][]string) []string {
	var all []string
	for _, m := range []map[string][]string{a, b} {
		for name := range m {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// clustersIn returns the name of the cluster that gets a request, or the shares of those that can.
func clustersIn(a *walk.Answer) string {
	if a.Cluster != nil {
		return *a.Cluster
	}
	return string(line(a.Weighted))
}

// reached says what is behind the clusters that can get a request.
func (s *side) reached(a *walk.Answer) string {
	if a.Cluster != nil {
		return s.destination(*a.Cluster)
	}
	all := map[string]float64{}
	for name, share := range a.Weighted {
		all[s.destination(name)+share.Host+string(line(share.Added))] += share.Share
	}
	return fmt.Sprint(all)
}

// destination is what is behind a cluster: its addresses, or its content if that is what counts.
func (s *side) destination(name string) string {
	if s.ByEndpoints {
		return s.identity(name)
	}
	return fmt.Sprint(s.walker.Addresses(name))
}

func (s *side) mirrored(a *walk.Answer) (all []string) {
	for _, name := range a.Mirrors {
		if s.ByEndpoints {
			name = s.identity(name)
		}
		all = append(all, name)
	}
	return all
}
