package routetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/walk"
)

// behaviour are the fields of an answer that clients and upstreams see, and recorded those that a recorded test expects: also the names on the way.
var (
	behaviour = []string{
		"status", "location", "body", "cluster", "weighted", "path", "host", "added", "removed", "response_added", "response_removed", "mirrors",
	}
	recorded = slices.Insert(slices.Clone(behaviour), 3, "chain", "vhost", "route")
)

// Recorder writes a file with tests that hold today.
type Recorder struct {
	Tests  int // that were written
	w      io.Writer
	walker *walk.Walker
}

// NewRecorder begins a file with tests of a configuration, which is at some paths.
func NewRecorder(w io.Writer, walker *walk.Walker, inputs []string) (*Recorder, error) {
	_, err := fmt.Fprintf(w, "input: %s\ntests:\n", inline(inputs))
	return &Recorder{w: w, walker: walker}, err
}

// Record writes a test of a request. It leaves out what is not known, and names that are places.
func (r *Recorder) Record(q *walk.Request) error {
	a, err := r.walker.Walk(q)
	if err != nil {
		return err
	}
	facts := factsOf(a.Redacted())
	var b strings.Builder
	fmt.Fprintf(&b, "- name: %s\n  given: %s\n  expect:\n", inline(title(q)), inline(q))
	for _, name := range recorded {
		value, has := facts[name]
		if text, ok := value.(string); has && a.Unknown[name] == "" && (!ok || !strings.HasSuffix(text, "]")) {
			fmt.Fprintf(&b, "    %s: %s\n", name, inline(value))
		}
	}
	r.Tests++
	_, err = io.WriteString(r.w, b.String())
	return err
}

// inline writes a value as JSON, which is YAML, in one line.
func inline(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // maps, lists and texts
	return strings.TrimSuffix(b.String(), "\n")
}
