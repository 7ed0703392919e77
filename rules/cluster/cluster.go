// Package cluster holds the rules about clusters: what does not go with their type, their protocols or their load balancing.
package cluster

import "github.com/xdslint/xdslint/lint"

// Rules is the group; each rule adds itself.
var Rules = &lint.Group{Name: "cluster", Summary: "clusters: what does not go with their type, their protocols or their load balancing"}

// refuses is the first note of a finding about what Envoy refuses.
const refuses = "envoy refuses the cluster"

// refuse reports something for which Envoy refuses a cluster.
func refuse(p *lint.Pass, at lint.At, message, help, upstream string) {
	p.Report(at, lint.Diagnostic{Message: message, Notes: []string{refuses}, Help: help, Refused: true, Upstream: upstream})
}
