package transitions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	_ "github.com/xdslint/xdslint/internal/decode/linked" // an Any of any type is decoded and encoded again

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
)

// Case is a transition.
type Case struct {
	Name     string
	Old, New *graph.Snapshot
	About
}

// About is what case.yaml says about a case, in addition to its two snapshots. All of it is optional.
type About struct {
	Why string
	// SlowHealthCheck is how long endpoints that only the new snapshot has take for their first health check.
	SlowHealthCheck time.Duration `yaml:"slow_health_check"`
	// Filler is how many routes that no request takes are added to each virtual host: Envoy needs a moment to read thousands.
	Filler int
	// Follow: clients of a listener that moves try its new address, then the old one; else they know only the old one.
	Follow bool
	// Transports that can carry it; empty: all of them.
	Transports []lint.Transport
	// Unavoidable are symptoms that no order excludes, in the words of Result.Symptoms; a planned push shows no others.
	Unavoidable []string
	// Most is how many requests may fail like that; 0: any number.
	Most int
	// Steady: each request is answered by the same endpoints before and after the push. An answer of others is a failure, "astray".
	Steady bool
	// Lossy: the plain push fails requests with certainty, so a test can insist on it.
	Lossy bool
}

// Over reports whether the case makes sense over a transport.
func (c *Case) Over(t lint.Transport) bool {
	return len(c.Transports) == 0 || slices.Contains(c.Transports, t)
}

// Allows reports whether a planned push may have this result.
func (c *Case) Allows(r *Result) bool {
	for _, s := range r.Symptoms() {
		if !slices.Contains(c.Unavoidable, s) {
			return false
		}
	}
	return c.Most == 0 || r.Failed() <= c.Most
}

// Cases reads a folder of cases, each with the folders old and new, by name.
func Cases(ctx context.Context, dir string) ([]*Case, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []*Case
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		c, err := readCase(ctx, filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func readCase(ctx context.Context, dir string) (*Case, error) {
	c := &Case{Name: filepath.Base(dir)}
	text, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := yaml.Unmarshal(text, &c.About); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if c.Old, err = Half(ctx, filepath.Join(dir, "old")); err != nil {
		return nil, err
	}
	c.New, err = Half(ctx, filepath.Join(dir, "new"))
	return c, err
}

// Half reads one side of a case: a file or folder with one snapshot.
func Half(ctx context.Context, path string) (*graph.Snapshot, error) {
	in, err := load.Paths(ctx, []string{path}, load.Options{})
	if err != nil {
		return nil, err
	}
	if len(in.Snapshots) != 1 {
		return nil, fmt.Errorf("%s makes %d snapshots, not one", path, len(in.Snapshots))
	}
	for _, r := range in.Snapshots[0].Resources {
		if r.Message == nil || len(r.Problems) > 0 {
			return nil, fmt.Errorf("%s: %s %q cannot be read", r.File.Name, r.Kind, r.Name)
		}
	}
	return in.Snapshots[0], nil
}
