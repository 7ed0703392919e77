package lint

import (
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
)

// Transport is how the control plane delivers resources to the data plane.
type Transport string

// The transports: one aggregated stream or a stream for each subscription, with the state of the world or deltas.
const (
	ADSSotW  Transport = "ads-sotw"
	ADSDelta Transport = "ads-delta"
	SotW     Transport = "sotw"
	Delta    Transport = "delta"
)

// Transports lists all transports. The first is the default.
var Transports = []Transport{ADSSotW, ADSDelta, SotW, Delta}

// ADS reports whether all types share one stream.
func (t Transport) ADS() bool { return t == ADSSotW || t == ADSDelta }

// Incremental reports whether only changed resources are sent.
func (t Transport) Incremental() bool { return t == ADSDelta || t == Delta }

// VersionPolicy determines when a server gives resources of a type a new version.
type VersionPolicy string

// The policies. PerType changes the version of a type only when its resources change. Global changes the versions of
// all types with each push.
const (
	PerType VersionPolicy = "per-type"
	Global  VersionPolicy = "global"
)

// VersionPolicies lists all policies. The first is the default.
var VersionPolicies = []VersionPolicy{PerType, Global}

// Push is how a control plane sends a snapshot. The zero value stands for the defaults.
type Push struct {
	Transport Transport
	Versions  VersionPolicy
	Partial   bool // it is one response: others may follow
}

// OrDefault returns p with defaults for empty fields.
func (p Push) OrDefault() Push {
	if p.Transport == "" {
		p.Transport = Transports[0]
	}
	if p.Versions == "" {
		p.Versions = VersionPolicies[0]
	}
	return p
}

// ParsePush parses the names of a transport and of a version policy. Empty names stand for the defaults.
func ParsePush(transport, versions string) (Push, error) {
	p := Push{Transport: Transport(transport), Versions: VersionPolicy(versions)}.OrDefault()
	if !slices.Contains(Transports, p.Transport) {
		return p, fmt.Errorf("invalid transport %q: must be one of %s", transport, words.List(Transports))
	}
	if !slices.Contains(VersionPolicies, p.Versions) {
		return p, fmt.Errorf("invalid version policy %q: must be one of %s", versions, words.List(VersionPolicies))
	}
	return p, nil
}

// Transition is the change from one snapshot to the next, and how it is pushed.
type Transition struct {
	Changes *graph.Changes // from graph.Diff; Changes.New is the snapshot that is judged
	Push
}

// ForTransition returns a check that runs f once for a snapshot that follows another one (Config.Transition), and never
// in a plain run. Findings can point into either.
func ForTransition(f func(p *Pass, changes *graph.Changes)) Check {
	return Check{between: f}
}

// Transitional reports whether the rule is about the transition between two snapshots, and so finds nothing in a plain run.
func (r *Rule) Transitional() bool { return r.Run.between != nil }
