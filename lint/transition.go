package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
)

// Transport is how resources come to the data plane.
type Transport string

// The transports: one aggregated stream or a stream for each subscription, with the state of the world or deltas.
const (
	ADSSotW  Transport = "ads-sotw"
	ADSDelta Transport = "ads-delta"
	SotW     Transport = "sotw"
	Delta    Transport = "delta"
)

// Transports lists all of them; the first is the default.
var Transports = []Transport{ADSSotW, ADSDelta, SotW, Delta}

// ADS tells whether all types share one stream.
func (t Transport) ADS() bool { return t == ADSSotW || t == ADSDelta }

// Incremental tells whether only changed resources are sent.
func (t Transport) Incremental() bool { return t == ADSDelta || t == Delta }

// VersionPolicy is when a server gives a type of resources a new version.
type VersionPolicy string

// The ways to give versions: PerType changes that of a type only when its resources change, Global those of all types with each push.
const (
	PerType VersionPolicy = "per-type"
	Global  VersionPolicy = "global"
)

// VersionPolicies lists both; the first is the default.
var VersionPolicies = []VersionPolicy{PerType, Global}

// Push is how a control plane sends a snapshot. The zero value stands for the defaults.
type Push struct {
	Transport Transport
	Versions  VersionPolicy
}

// OrDefault fills in what is not given.
func (p Push) OrDefault() Push {
	if p.Transport == "" {
		p.Transport = Transports[0]
	}
	if p.Versions == "" {
		p.Versions = VersionPolicies[0]
	}
	return p
}

// ParsePush reads the names of a transport and of a way to give versions; empty ones stand for the defaults.
func ParsePush(transport, versions string) (Push, error) {
	p := Push{Transport(transport), VersionPolicy(versions)}.OrDefault()
	if !slices.Contains(Transports, p.Transport) {
		return p, fmt.Errorf("%q is no transport: %s", transport, joined(Transports))
	}
	if !slices.Contains(VersionPolicies, p.Versions) {
		return p, fmt.Errorf("%q is no way to give versions: %s", versions, joined(VersionPolicies))
	}
	return p, nil
}

func joined[T ~string](all []T) string {
	names := make([]string, len(all))
	for i, each := range all {
		names[i] = string(each)
	}
	return strings.Join(names, ", ")
}

// Transition is what a snapshot changes of the one before it, and how it is pushed.
type Transition struct {
	Changes *graph.Changes // of graph.Diff; the snapshot that is judged is its New
	Push
}

// ForTransition runs f once for a snapshot that follows another one (Config.Transition), and never in a plain run. Findings can
// point into either.
func ForTransition(f func(p *Pass, changes *graph.Changes)) Check {
	return Check{between: f}
}

// Transitional tells whether the rule is about what leads from one snapshot to another, and so finds nothing in a plain run.
func (r *Rule) Transitional() bool { return r.Run.between != nil }
