// Package schema holds the rules about invalid xDS messages: unknown fields, wrong types, broken constraints.
package schema

import "github.com/xdslint/xdslint/lint"

// Rules is the group; each rule adds itself.
var Rules = &lint.Group{Name: "schema", Summary: "invalid xDS messages: unknown fields, wrong types, broken constraints"}
