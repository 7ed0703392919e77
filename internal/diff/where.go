package diff

import (
	"fmt"
	"strings"
)

// String names the place for people, from the narrowest to the widest.
func (w Where) String() string {
	switch {
	case w.Resource != "":
		kind, name, ok := strings.Cut(w.Resource, "/")
		kind = strings.ReplaceAll(kind, "_", " ")
		if !ok {
			return kind
		}
		return kind + " " + name
	case w.Endpoint != "":
		return "endpoint " + w.Endpoint + " of cluster " + w.Cluster
	case w.Cluster != "":
		return "cluster " + w.Cluster
	}
	var parts []string
	if w.Route != "" {
		parts = append(parts, w.Route)
	}
	if w.Host != "" {
		parts = append(parts, w.Host)
	}
	inner := w.inner()
	if len(parts) == 0 {
		return inner
	}
	return strings.Join(parts, " of ") + " (" + inner + ")"
}

// inner names the listener, filter chain and scope of a host.
func (w Where) inner() string {
	if w.Listener == "" {
		return fmt.Sprintf("route configuration %q", w.Table)
	}
	parts := []string{fmt.Sprintf("listener %q", w.Listener)}
	if w.Address != "" {
		parts = append(parts, w.Address)
	}
	if w.Chain != "" {
		parts = append(parts, w.Chain)
	}
	if w.Scope != "" {
		parts = append(parts, "scope "+w.Scope)
	}
	return strings.Join(parts, ", ")
}
