package target

// Default is the newest Envoy.
func Default() Target {
	var newest Target
	for _, t := range All() {
		if t.Plane == "envoy" {
			newest = t
		}
	}
	return newest
}
