//go:build js && wasm && !constraints

package main

import "github.com/xdslint/xdslint/internal/config"

// makeRules is nil in the smaller engine, which asks for the other one where there are constraints.
var makeRules config.RuleSource
