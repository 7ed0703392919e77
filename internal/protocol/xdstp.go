package protocol

import (
	"slices"
	"strings"
)

// Names of xdstp are xdstp://AUTHORITY/TYPE/ID?CONTEXT.
const xdstp = "xdstp:"

// Canonical returns a name as names are compared: the context parameters of a name of xdstp have no order.
func Canonical(name string) string {
	path, context, ok := strings.Cut(name, "?")
	if !ok || !strings.HasPrefix(name, xdstp) {
		return name
	}
	parameters := strings.Split(context, "&")
	slices.Sort(parameters)
	return path + "?" + strings.Join(parameters, "&")
}

// isCollection reports whether a name is that of a collection: all resources below a path.
func isCollection(name string) bool {
	path, _, _ := strings.Cut(name, "?")
	return strings.HasPrefix(name, xdstp) && strings.HasSuffix(path, "/*")
}

// collects reports whether a collection has a resource of a name, with the same context parameters.
func collects(collection, name string) bool {
	glob, context, _ := strings.Cut(collection, "?")
	path, own, _ := strings.Cut(name, "?")
	id, ok := strings.CutPrefix(path, strings.TrimSuffix(glob, "*"))
	return ok && context == own && id != "" && !strings.Contains(id, "/")
}
