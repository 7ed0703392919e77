// Package testdata holds the examples of the built-in rules: those that the tests check, and that the rules are explained with.
package testdata

import "embed"

// Rules holds rules/GROUP/RULE.txtar, and the skeletons that they name.
//
//go:embed rules skeletons
var Rules embed.FS
