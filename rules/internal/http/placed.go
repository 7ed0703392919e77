package http

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

// perRoute reports whether a filter's configuration is for a route or a virtual host, not for the chain.
func perRoute(at lint.At) bool {
	any := envoy.EnclosingAny(at.Place)
	if any == nil {
		return false
	}
	pt, ok := envoy.PointOf(any)
	return ok && pt.IsPerRoute()
}
