package transition

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "nack-blast-radius",
	Severity: lint.Info,
	Summary:  "one resource that breaks a constraint makes Envoy reject the rest of its response",
	Links: []string{
		"OpaqueResourceDecoderImpl::decodeResource (source/common/config/opaque_resource_decoder_impl.h)",
		"https://github.com/envoyproxy/gateway/issues/9198", "https://github.com/istio/istio/issues/36021",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		for _, kind := range graph.Kinds() {
			if all := changes.Of(kind); len(all) > 1 && oneResponse(p.Push.Transport, kind) {
				blast(p, all)
			}
		}
	}),
})

// oneResponse reports whether the resources of a kind come in one response. Without ADS, each subscription to single names has
// its own stream.
func oneResponse(t lint.Transport, kind graph.Kind) bool {
	return t.ADS() || kind == graph.Listener || kind == graph.Cluster
}

func blast(p *lint.Pass, all []*graph.Change) {
	for _, change := range all {
		if change.New == nil {
			continue
		}
		at, what, broken := envoy.RejectedInResponse(p.Target, change.New)
		if !broken {
			continue
		}
		var lost []string
		for _, other := range all {
			if other != change {
				lost = append(lost, fmt.Sprintf("%q", other.Name))
			}
		}
		names := words.And(lost)
		if more := len(lost) - shownNames; more > 0 {
			names = words.And(lost[:shownNames]) + andMore(more, "other", "others")
		}
		p.Report(at, lint.Diagnostic{
			Message: fmt.Sprintf("%s, so Envoy rejects the whole response: changes of %s are lost too", what, names),
			Notes: []string{fmt.Sprintf("that includes all updates and removals of type %s in this push; Envoy keeps the old resources",
				spoken(change.Kind))},
		})
		return // Envoy rejects the response once
	}
}

// shownNames is how many names a message lists.
const shownNames = 5
