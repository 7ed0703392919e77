package servers

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
)

// folder is the configuration of a server that reads objects of Kubernetes from a folder. It has services, each of which
// is a port, and becomes a cluster with endpoints, and a listener with routes.
type folder struct {
	path string
	// port finds the port of a service in the name of a resource: its first group.
	port *regexp.Regexp
	// objects is a template of objects for all services: a map from a port to the last byte of an endpoint's address.
	objects *template.Template
	// patch returns what changes a resource, other than endpoints.
	patch func(kind, name string, n int) string

	mu       sync.Mutex
	services map[string]int
	patched  map[string]int // by KIND/NAME
	count    int
}

// fill adds the first services.
func (f *folder) fill() error {
	f.services, f.patched = map[string]int{"8081": 1, "8082": 1, "8083": 1}, map[string]int{}
	return f.write()
}

// change changes the configuration, as package conform wants it. Whatever is deleted, is deleted with its service.
func (f *folder) change(_ context.Context, action, what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	if what == "" {
		f.services[strconv.Itoa(9000+f.count)] = 1
		return f.write()
	}
	kind, name, _ := strings.Cut(what, "/")
	if action == "change" && kind != "cluster_load_assignment" {
		f.patched[what] = f.count
		return f.write()
	}
	found := f.port.FindStringSubmatch(name)
	if found == nil {
		return fmt.Errorf("%s is not from a service", what)
	}
	switch _, ok := f.services[found[1]]; {
	case ok == (action == "add"):
		return fmt.Errorf("%s: the service is there: %t", what, ok)
	case action == "delete":
		delete(f.services, found[1])
	default:
		f.services[found[1]] = 1 + f.count%200
	}
	return f.write()
}

// write moves a file in its place, as a whole.
func (f *folder) write() error {
	var out bytes.Buffer
	if err := f.objects.Execute(&out, f.services); err != nil {
		return err
	}
	for _, what := range slices.Sorted(maps.Keys(f.patched)) {
		kind, name, _ := strings.Cut(what, "/")
		out.WriteString(f.patch(kind, name, f.patched[what]))
	}
	next := filepath.Join(filepath.Dir(f.path), "next.yaml") // next to the folder, which is watched
	if err := os.WriteFile(next, out.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(f.path, "config.yaml"))
}
