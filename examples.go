// Package xdslint holds the examples of the rules, as the tests check them. The linter itself is in package lint, the rules
// are in package rules, the command in cmd/xdslint.
package xdslint

import "embed"

// Examples holds testdata/rules/GROUP/RULE.txtar and testdata/skeletons, which the archives name. It stands here since a package can embed only what is below it.
//
//go:embed testdata/rules testdata/skeletons
var Examples embed.FS
