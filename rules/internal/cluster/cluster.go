// Package cluster holds the rules about clusters: settings that do not fit their type, their protocols or their load balancing.
package cluster

import (
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/lint"
)

// Rules is the group. Each rule adds itself.
var Rules = &lint.Group{Name: "cluster", Summary: "clusters: settings that do not fit their type, their protocols or their load balancing", Family: dataplane.Envoy}
