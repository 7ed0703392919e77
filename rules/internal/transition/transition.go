// Package transition holds the rules about pushes: both snapshots are valid, but traffic fails between them. The rules run if
// there is a snapshot before this one (lint.Config.Transition).
package transition

import (
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/lint"
)

// Rules is the group; each rule adds itself.
var Rules = &lint.Group{Name: "transition", Summary: "what a push breaks between one snapshot and the next", Family: dataplane.Envoy}
