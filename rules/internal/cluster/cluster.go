// Package cluster holds the rules about clusters: what does not go with their type, their protocols or their load balancing.
package cluster

import "github.com/xdslint/xdslint/lint"

// Rules is the group; each rule adds itself.
var Rules = &lint.Group{Name: "cluster", Summary: "clusters: what does not go with their type, their protocols or their load balancing"}
