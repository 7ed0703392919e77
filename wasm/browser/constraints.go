//go:build wasip1 && constraints

package main

import (
	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/rules"
)

// makeRules makes the rules of constraints. It links all of CEL.
var makeRules = custom.Constraints(rules.All(), nil)
