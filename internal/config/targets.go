package config

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/strict"
)

// ParseTargets reads the names of targets, and drops repeated ones.
func ParseTargets(names []string) (all []dataplane.Target, err error) {
	for _, name := range names {
		t, err := dataplane.Parse(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all, nil
}

func isTarget(name string) error {
	_, err := dataplane.Parse(name)
	return err
}

// checkTargetsByPath validates the targets of paths, and drops invalid ones.
func (s *Config) checkTargetsByPath(d *strict.Reader, n *node) {
	for _, glob := range slices.Sorted(maps.Keys(s.TargetsByPath)) {
		names := s.TargetsByPath[glob]
		if _, err := path.Match(glob, ""); err != nil {
			d.Errorf(n.at(glob, -1), "invalid glob %q: unclosed [ or trailing \\", glob)
		}
		if len(names) == 0 {
			d.Errorf(n.at(glob, -1), "%q needs a target, such as grpc-go:1.85", glob)
		}
		s.TargetsByPath[glob] = checked(d, n, glob, names, isTarget)
	}
}

// AllTargets returns some targets and those of paths.
func (s *Config) AllTargets(some []dataplane.Target) []dataplane.Target {
	all := slices.Clone(some)
	for _, glob := range slices.Sorted(maps.Keys(s.TargetsByPath)) {
		for _, t := range s.targetsBy(glob) {
			if !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	return all
}

// TargetsOf returns the targets that the configuration has for the path of a file; none: those for all files. The longest glob that matches wins.
func (s *Config) TargetsOf(file string) []dataplane.Target {
	if len(s.TargetsByPath) == 0 {
		return nil
	}
	globs := slices.SortedFunc(maps.Keys(s.TargetsByPath), func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	if s.File != nil {
		file = source.RelativeTo(filepath.Dir(s.File.Name), file)
	}
	i := slices.IndexFunc(globs, func(glob string) bool { return covers(path.Clean(glob), file) })
	if i < 0 {
		return nil
	}
	return s.targetsBy(globs[i])
}

func (s *Config) targetsBy(glob string) []dataplane.Target {
	all, _ := ParseTargets(s.TargetsByPath[glob]) // they were checked
	return all
}

// covers reports whether a glob matches a file, or a folder that the file is in.
func covers(glob, file string) bool {
	for at := file; ; at = path.Dir(at) {
		if ok, _ := path.Match(glob, at); ok {
			return true
		}
		if base := path.Base(at); base == "." || base == "/" || base == ".." {
			return false
		}
	}
}
