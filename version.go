package xdslint

import "runtime/debug"

// Version returns the version that the go command recorded in this build.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
