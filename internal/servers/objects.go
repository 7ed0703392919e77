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

// objects is the configuration of a server that reads objects of Kubernetes. It has services, each of which is a port, and
// becomes a cluster with endpoints, and a listener with routes.
type objects struct {
	// write takes all objects.
	write func(text []byte) error
	// port finds the port of a service in the name of a resource: its first group.
	port *regexp.Regexp
	// services is a template of objects for all services: a map from a port to the last byte of an endpoint's address.
	services *template.Template
	// patch returns what changes a resource, other than endpoints.
	patch func(kind, name string, n int) string

	mu      sync.Mutex
	ports   map[string]int
	patched map[string]int // by KIND/NAME
	count   int
}

// fill adds the first services.
func (o *objects) fill() error {
	o.ports, o.patched = map[string]int{"8081": 1, "8082": 1, "8083": 1}, map[string]int{}
	return o.publish()
}

// change changes the configuration, as package conform wants it. Whatever is deleted, is deleted with its service.
func (o *objects) change(_ context.Context, action, what string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count++
	if what == "" {
		o.ports[strconv.Itoa(9000+o.count)] = 1
		return o.publish()
	}
	kind, name, _ := strings.Cut(what, "/")
	if action == "change" && kind != "cluster_load_assignment" {
		o.patched[what] = o.count
		return o.publish()
	}
	found := o.port.FindStringSubmatch(name)
	if found == nil {
		return fmt.Errorf("%s is not from a service", what)
	}
	switch _, ok := o.ports[found[1]]; {
	case ok == (action == "add"):
		return fmt.Errorf("%s: the service is there: %t", what, ok)
	case action == "delete":
		delete(o.ports, found[1])
	default:
		o.ports[found[1]] = 1 + o.count%200
	}
	return o.publish()
}

func (o *objects) publish() error {
	var out bytes.Buffer
	if err := o.services.Execute(&out, o.ports); err != nil {
		return err
	}
	for _, what := range slices.Sorted(maps.Keys(o.patched)) {
		kind, name, _ := strings.Cut(what, "/")
		out.WriteString(o.patch(kind, name, o.patched[what]))
	}
	return o.write(out.Bytes())
}

// moveTo returns a function that moves a file into a folder, as a whole.
func moveTo(folder string) func(text []byte) error {
	return func(text []byte) error {
		next := filepath.Join(filepath.Dir(folder), "next.yaml") // next to the folder, which is watched
		if err := os.WriteFile(next, text, 0o600); err != nil {
			return err
		}
		return os.Rename(next, filepath.Join(folder, "config.yaml"))
	}
}
