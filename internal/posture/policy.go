package posture

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/nearest"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/strict"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/internal/walk"
)

// Policy says which guard has to run where: "ext_authz on pay.*/** except /health".
type Policy struct {
	Text  string
	File  *source.File
	Span  source.Span
	Guard string // the kind

	host, path *regexp.Regexp
	except     []*regexp.Regexp
	sample     string   // a host
	samples    []string // paths

	Requests int // that the policy is about
	Breaches []Breach
	Further  int // breaches that are not in the list
}

// Breach is a request for which the guard of a policy does not run.
type Breach struct {
	Way Way
	Why walk.Guard
}

const syntax = "GUARD on HOST/PATH [except PATH, …], such as ext_authz on pay.*/** except /health"

// ReadPolicies reads the policies of a file.
func ReadPolicies(f *source.File, nodes []tree.Node) (all []*Policy, err error) {
	r := &strict.Reader{File: f}
	for _, n := range nodes {
		p, err := parsePolicy(n.Text)
		if err != nil {
			r.Errorf(n.Span(), "require: %s", err)
			continue
		}
		p.File, p.Span = f, n.Span()
		all = append(all, p)
	}
	return all, r.Err()
}

// parsePolicy reads a policy.
func parsePolicy(text string) (*Policy, error) {
	guard, where, ok := strings.Cut(text, " on ")
	where, except, excepts := strings.Cut(where, " except ")
	host, path, slash := strings.Cut(strings.TrimSpace(where), "/")
	p := &Policy{Text: text, Guard: strings.TrimSpace(guard)}
	switch {
	case !ok || !slash || host == "" || strings.ContainsAny(host+path, " \t") || excepts && strings.TrimSpace(except) == "":
		return nil, fmt.Errorf("%q is not %s", text, syntax)
	case !slices.Contains(walk.GuardKinds(), p.Guard):
		near := nearest.DidYouMean(p.Guard, walk.GuardKinds())
		if near == "" {
			near = ": " + strings.Join(walk.GuardKinds(), ", ")
		}
		return nil, fmt.Errorf("no guard is named %q%s", p.Guard, near)
	}
	if err := asSent(host, path+except); err != nil {
		return nil, err
	}
	path = "/" + path
	p.host, p.path = hostGlob(host), pathGlob(path)
	p.sample = strings.ToLower(strings.ReplaceAll(host, "*", "x"))
	if host == "*" {
		p.sample = anyHost
	}
	p.samples = samplesOf(path)
	if !excepts {
		return p, nil
	}
	for each := range strings.SplitSeq(except, ",") {
		each = strings.TrimSpace(each)
		if !strings.HasPrefix(each, "/") {
			return nil, errors.New("except needs paths, which begin with a slash, such as /health")
		}
		p.except = append(p.except, pathGlob(each))
		p.samples = append(p.samples, samplesOf(each)...)
	}
	return p, nil
}

// asSent returns an error if no request has such a host or path, so that a policy would not be about any.
func asSent(host, paths string) error {
	switch wrong, found := match.NotInHosts(host); {
	case found:
		return fmt.Errorf("no request has a host with %q: requests have the form of DNS, such as xn--bcher-kva.example", wrong)
	case match.WithoutPort(host) != host:
		return fmt.Errorf("the host %q has a port: policies are about all ports", host)
	case strings.ContainsAny(paths, "?#"):
		return errors.New("a path does not have a query or a fragment here")
	}
	return nil
}

// hostGlob returns an expression for the hosts that fit a pattern, in which a star is one or more characters.
func hostGlob(glob string) *regexp.Regexp {
	return regexp.MustCompile("(?is)^" + strings.ReplaceAll(regexp.QuoteMeta(glob), `\*`, ".+") + "$")
}

// pathGlob returns an expression for the paths that fit a pattern, in which a star is a part of a segment, and two stars are anything. /x also fits /x/**.
func pathGlob(glob string) *regexp.Regexp {
	text := regexp.QuoteMeta(glob)
	if before, ok := strings.CutSuffix(text, `/\*\*`); ok {
		text = before + "(/.*)?"
	}
	text = strings.ReplaceAll(text, `\*\*`, ".*")
	return regexp.MustCompile("(?s)^" + strings.ReplaceAll(text, `\*`, "[^/]*") + "$")
}

// samplesOf returns paths of a glob.
func samplesOf(glob string) []string {
	before, _, star := strings.Cut(glob, "*")
	if !star {
		return []string{glob}
	}
	all := []string{strings.ReplaceAll(glob, "*", "x"), before + "x"}
	if len(before) > 1 {
		all = append(all, strings.TrimSuffix(before, "/"))
	}
	return append(all, before)
}

// paths returns the paths that the policy adds to those of a host.
func (p *Policy) paths(authority string) []string {
	if !p.host.MatchString(authority) {
		return nil
	}
	return p.samples
}

// about reports whether the policy is about a request.
func (p *Policy) about(q *walk.Request) bool {
	host := match.WithoutPort(*q.Authority)
	path, _, _ := strings.Cut(*q.Path, "?")
	return p.host.MatchString(host) && p.path.MatchString(path) &&
		!slices.ContainsFunc(p.except, func(e *regexp.Regexp) bool { return e.MatchString(path) })
}

// judge notes whether the guard runs for a request that an upstream gets.
func (p *Policy) judge(way Way) {
	if !way.Forwards() || !p.about(way.Sent) {
		return
	}
	p.Requests++
	why := walk.Guard{Kind: p.Guard, State: walk.Absent, Why: "the filter chain does not have it"}
	for _, g := range slices.Backward(way.Guards) {
		switch {
		case g.Kind != p.Guard:
		case g.State.Holds():
			return
		default:
			why = g // the first one, in the end
		}
	}
	p.breach(way, why)
}

// holes notes the holes in what the policy guards.
func (p *Policy) holes(all []*Hole) {
	for _, h := range all {
		if i := slices.IndexFunc(h.Lost, func(g walk.Guard) bool { return g.Kind == p.Guard }); i >= 0 && !h.Below && p.about(h.Cell.Way.Sent) {
			p.breach(h.Way, h.Lost[i])
		}
	}
}

// maxBreaches limits the breaches that are kept. Each has another reason.
const maxBreaches = 20

func (p *Policy) breach(way Way, why walk.Guard) {
	same := func(b Breach) bool { return b.Why.Why == why.Why && b.Why.At == why.At }
	if slices.ContainsFunc(p.Breaches, same) || len(p.Breaches) == maxBreaches {
		p.Further++
		return
	}
	p.Breaches = append(p.Breaches, Breach{way, why})
}

// Holds reports whether the guard runs for all requests that the policy is about, and there are some.
func (p *Policy) Holds() bool { return p.Requests > 0 && len(p.Breaches) == 0 }
