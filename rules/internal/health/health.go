// Package health holds the rules about health checks and outlier detection.
package health

import (
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/lint"
)

// Rules is the group. Each rule adds itself.
var Rules = &lint.Group{Name: "health", Summary: "health checks and outlier detection", Family: dataplane.Envoy}
