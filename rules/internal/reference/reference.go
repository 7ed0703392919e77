// Package reference holds the rules about names that lead nowhere.
package reference

import "github.com/xdslint/xdslint/lint"

// Rules is the group; each rule adds itself.
var Rules = &lint.Group{Name: "reference", Summary: "names that lead nowhere"}
