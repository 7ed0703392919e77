package transition

import (
	"fmt"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "version-not-bumped",
	Severity: lint.Warning,
	Summary:  "a resource changes, but its version does not",
	Links: []string{
		"https://github.com/envoyproxy/go-control-plane/blob/main/docs/cache/README.md",
		"https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#resource-versions",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		for _, kind := range graph.Kinds() {
			var stale []*graph.Change
			ofType := sameVersionOfType(p, changes, kind)
			for _, change := range changes.Of(kind) {
				if sameVersion(changes, change, ofType) {
					stale = append(stale, change)
				}
			}
			if len(stale) > 0 {
				reportStale(p, changes, stale)
			}
		}
	}),
})

// sameVersion reports whether a changed resource still has its old version. Added and removed resources have that of their
// type.
func sameVersion(changes *graph.Changes, change *graph.Change, ofType bool) bool {
	if change.Changed() {
		was := changes.Old.Version(change.Old)
		return was != "" && was == changes.New.Version(change.New)
	}
	return ofType
}

// sameVersionOfType reports whether a type still has its old version, if responses have one.
func sameVersionOfType(p *lint.Pass, changes *graph.Changes, kind graph.Kind) bool {
	if p.Push.Transport.Incremental() {
		return false
	}
	version := onlyVersion(changes.Old, kind)
	return version != "" && version == onlyVersion(changes.New, kind)
}

// onlyVersion returns the version that all resources of a kind share; empty if there is none.
func onlyVersion(s *graph.Snapshot, kind graph.Kind) (version string) {
	for _, r := range s.All(kind) {
		if r.Delivery != graph.OverXDS {
			continue
		}
		own := s.Version(r)
		if own == "" || version != "" && own != version {
			return ""
		}
		version = own
	}
	return version
}

func reportStale(p *lint.Pass, changes *graph.Changes, stale []*graph.Change) {
	first := stale[0]
	r, one, several := first.New, "changes", "change"
	version := changes.New.Version
	switch {
	case first.Added():
		one, several = "is new", "are new"
	case first.Removed():
		r, one, several = first.Old, "is removed", "are removed"
		version = changes.Old.Version
	}
	does := one
	if len(stale) > 1 {
		does = several
	}
	p.ReportResource(r, lint.Diagnostic{
		Message: fmt.Sprintf("%s %q%s %s, but the version is still %q",
			spoken(first.Kind), first.Name, andMore(len(stale)-1, "other", "others"), does, version(r)),
		Notes: []string{"a server that compares versions assumes that Envoy already has it, and sends nothing; an Envoy that " +
			"reconnects gets the new content"},
		Help: "set a new version for each new content, such as a counter or a hash",
	})
}
