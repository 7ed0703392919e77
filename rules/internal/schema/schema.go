// Package schema holds the rules about what is no valid xDS message: unknown fields, wrong types, broken constraints.
package schema

import "github.com/xdslint/xdslint/lint"

// Rules is the group; each rule adds itself.
var Rules = &lint.Group{Name: "schema", Summary: "what is no valid xDS message: unknown fields, wrong types, broken constraints"}
