// Package reference holds the rules about references to resources that do not exist.
package reference

import (
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/lint"
)

// Rules is the group; each rule adds itself.
var Rules = &lint.Group{Name: "reference", Summary: "references to resources that do not exist", Family: dataplane.Envoy}
