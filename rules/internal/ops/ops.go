// Package ops holds the rules about operating data planes: what was left on, what is not recorded, and what grows.
package ops

import (
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/lint"
)

// Rules is the group. Each rule adds itself.
var Rules = &lint.Group{Name: "ops", Summary: "operating data planes: what was left on, what is not recorded, and what grows", Family: dataplane.Envoy}
