//go:build wasip1 && larger

package main

import (
	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/internal/playground"
	"github.com/xdslint/xdslint/internal/requestbar"
	"github.com/xdslint/xdslint/rules"
)

// newEngine makes the larger engine. It links all of CEL, and what follows requests.
func newEngine() *playground.Engine {
	return &playground.Engine{Custom: custom.Constraints(rules.All(), nil), Follow: requestbar.Follow, Holes: requestbar.FindHoles}
}
