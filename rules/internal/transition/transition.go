// Package transition holds the rules about what lies between two snapshots: each is right, and the way from the one to the other drops
// traffic. They run where a snapshot follows another one (lint.Config.Transition).
package transition

import "github.com/xdslint/xdslint/lint"

// Rules is the group; each rule adds itself.
var Rules = &lint.Group{Name: "transition", Summary: "what a push breaks on the way from one snapshot to the next"}
