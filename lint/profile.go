package lint

import (
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/dataplane"
)

// Profile says where a data plane runs. Some rules run only in a profile, or have another severity there.
type Profile string

// The profiles.
const (
	Edge     Profile = "edge"     // its clients are not trusted: Envoy's best practices for edge proxies hold
	Mesh     Profile = "mesh"     // its clients are other proxies, which send the requests of many clients
	Internal Profile = "internal" // its clients are in the same private network
)

// Profiles lists the profiles.
var Profiles = []Profile{Edge, Mesh, Internal}

// ParseProfile reads the name of a profile. An empty text stands for none.
func ParseProfile(s string) (Profile, error) {
	for _, p := range append(Profiles, "") {
		if s == string(p) {
			return p, nil
		}
	}
	return "", fmt.Errorf("invalid profile %q: must be edge, mesh or internal", s)
}

// In returns the severity of the rule's findings in a profile. The profile "" is the absence of one.
func (r *Rule) In(p Profile) Severity {
	if severity, ok := r.Profiles[p]; ok {
		return severity
	}
	return r.Severity
}

// RunsIn reports whether the rule runs in a profile.
func (r *Rule) RunsIn(p Profile) bool { return r.Profiles == nil || r.In(p) != Off }

// RunsFor reports whether the rule runs for a target: it knows what the target does.
func (r *Rule) RunsFor(t dataplane.Target) bool { return r.Family == "" || r.Family == t.Family() }

// running returns the rules that run in a profile, for a target.
func running(rules []*Rule, p Profile, t dataplane.Target) []*Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r *Rule) bool { return !r.RunsIn(p) || !r.RunsFor(t) })
}
