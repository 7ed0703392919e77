package conform

import "slices"

// Only restricts a run to transports.
func (o Options) Only(names ...string) Options {
	for _, t := range transports {
		if slices.Contains(names, t.String()) {
			o.transports = append(o.transports, t)
		}
	}
	return o
}
