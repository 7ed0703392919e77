// Package version holds the rules about what the target's version no longer supports, or does not support yet.
package version

import (
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/lint"
)

// Rules is the group; each rule adds itself.
var Rules = &lint.Group{Name: "version", Summary: "what the target's version no longer supports, or does not support yet", Family: dataplane.Envoy}
