package ruletest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/nearest"
	"github.com/xdslint/xdslint/lint"
)

// Options of Run.
type Options struct {
	Update bool         // write the current findings into the archives
	Types  decode.Types // of messages in the examples; nil: those of Envoy's API
}

// Result is what Run found, in the order of the archives.
type Result struct {
	Archives, Examples int
	Updated            []string // paths of the archives that were written
	Faults             []Fault
	Untested           []*lint.Rule // those without an archive
}

// Fault is why an archive does not pass.
type Fault struct {
	Path    string
	Message string
	Diff    string // unified; may be empty
}

// Run runs the archives of custom rules, which are next to the files that define the rules. An error means that an archive could not be read or written, that
// a rule panicked, or that the context ended.
func Run(ctx context.Context, rules []*lint.Rule, opts Options) (*Result, error) {
	r := &runner{Options: opts}
	byFolder := map[string][]*lint.Rule{}
	var folders []string
	for _, rule := range rules {
		dir := filepath.Join(filepath.Dir(rule.Origin.File.Name), Folder)
		if byFolder[dir] == nil {
			folders = append(folders, dir)
		}
		byFolder[dir] = append(byFolder[dir], rule)
	}
	for _, dir := range folders {
		if err := r.folder(ctx, dir, byFolder[dir]); err != nil {
			return nil, err
		}
	}
	return &r.Result, nil
}

type runner struct {
	Options
	Result
}

// folder runs all archives of a folder.
func (r *runner) folder(ctx context.Context, dir string, rules []*lint.Rule) error {
	paths, err := find(dir)
	if err != nil {
		return err
	}
	tested := map[*lint.Rule]bool{}
	for _, path := range paths {
		a, err := read(dir, path)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(rules, func(r *lint.Rule) bool { return r.ID() == a.rule })
		if i < 0 {
			r.faultf(a, "rule %q does not exist here%s", a.rule, suggestion(a.rule, rules))
			continue
		}
		tested[rules[i]] = true
		if err := r.archive(ctx, a, rules[i]); err != nil {
			return err
		}
	}
	for _, rule := range rules {
		if !tested[rule] {
			r.Untested = append(r.Untested, rule)
		}
	}
	return nil
}

func suggestion(id string, rules []*lint.Rule) string {
	ids := make([]string, len(rules))
	for i, r := range rules {
		ids[i] = r.ID()
	}
	return nearest.DidYouMean(id, ids)
}

func (r *runner) faultf(a *archive, format string, args ...any) {
	r.Faults = append(r.Faults, Fault{Path: a.path, Message: fmt.Sprintf(format, args...)})
}

// archive compares one archive with its rule.
func (r *runner) archive(ctx context.Context, a *archive, rule *lint.Rule) error {
	r.Archives++
	if err := a.check(); err != nil {
		r.faultf(a, "%s", err)
		return nil
	}
	r.Examples += len(a.samples)
	now, wanted := outcome{fixed: map[string]string{}}, a.wanted()
	var reports []string
	for _, s := range a.samples {
		j := &judgement{rule: rule, sample: s, types: r.Types}
		report, err := j.judge(ctx)
		var failure *lint.Failure
		switch {
		case errors.As(err, &failure), ctx.Err() != nil:
			return err
		case err != nil:
			r.faultf(a, "%s", err)
			return nil
		case s.Bad():
			reports = append(reports, report)
			maps.Copy(now.fixed, j.fixed)
		}
	}
	now.want = strings.Join(reports, "\n")
	return r.compare(a, wanted, now)
}

func (r *runner) compare(a *archive, wanted, now outcome) error {
	if now.want == wanted.want && maps.Equal(now.fixed, wanted.fixed) {
		return nil
	}
	if r.Update {
		r.Updated = append(r.Updated, a.path)
		return a.write(now)
	}
	if now.want != wanted.want {
		message := "want differs from the findings"
		if wanted.want == "" {
			message = "want is missing"
		}
		r.differs(a, message, "want", wanted.want, now.want)
	}
	names := maps.Clone(wanted.fixed)
	maps.Copy(names, now.fixed)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, there := wanted.fixed[name]
		after, made := now.fixed[name]
		if before != after || there != made {
			r.differs(a, "fixed/"+name+" differs from the fixed example", "fixed/"+name, before, after)
		}
	}
	return nil
}

// differs reports a file of an archive that differs from the outcome.
func (r *runner) differs(a *archive, message, name, wanted, now string) {
	r.Faults = append(r.Faults, Fault{a.path, message, udiff.Unified(name, "now", wanted, now)})
}
