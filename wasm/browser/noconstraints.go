//go:build wasip1 && !constraints

package main

import "github.com/xdslint/xdslint/lint/settings"

// makeRules is nil in the smaller engine, which asks for the other one where there are constraints.
var makeRules settings.Maker
