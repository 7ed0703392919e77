// Package health holds the rules about health checks and outlier detection.
package health

import "github.com/xdslint/xdslint/lint"

// Rules is the group; each rule adds itself.
var Rules = &lint.Group{Name: "health", Summary: "health checks and outlier detection"}

// refuse reports something for which Envoy refuses a cluster.
func refuse(p *lint.Pass, at lint.At, message, help, upstream string) {
	p.Report(at, lint.Diagnostic{Message: message, Notes: []string{"envoy refuses the cluster"}, Help: help, Refused: true, Upstream: upstream})
}
