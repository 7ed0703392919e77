//go:build js && wasm && constraints

package main

import (
	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/rules"
)

// makeRules makes the rules of constraints, with all of CEL.
var makeRules = custom.Constraints(rules.Known(), nil)
