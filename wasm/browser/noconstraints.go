//go:build wasip1 && !constraints

package main

import "github.com/xdslint/xdslint/internal/config"

// makeRules is nil in the smaller engine, which asks for the larger one if there are constraints.
var makeRules config.RuleSource
