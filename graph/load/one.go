package load

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
)

// ErrNothing means that an input does not hold any xDS.
var ErrNothing = errors.New("there is no xDS")

// SeveralError means that an input holds more than one configuration.
type SeveralError struct {
	Input string
	Names []string
}

func (e *SeveralError) Error() string {
	names := make([]string, len(e.Names))
	for i, name := range e.Names {
		names[i] = words.Name(name)
	}
	return fmt.Sprintf("%s holds %d configurations, but only one can be compared: name one of %s",
		words.Name(e.Input), len(names), strings.Join(names, "; "))
}

// One returns the snapshot of an input that must hold one configuration. If there are several snapshots, it is the only one
// with listeners or pushed resources, such as the resources next to a bootstrap without any. Errors contain the name of the
// input: ErrNothing, a SeveralError, or that the input holds only patches.
func (in *Input) One(name string) (*graph.Snapshot, error) {
	if len(in.Snapshots) == 0 {
		return nil, fmt.Errorf("%s: %w", words.Name(name), ErrNothing)
	}
	all := slices.DeleteFunc(slices.Clone(in.Snapshots), patches)
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds only patches: there is no configuration to compare", words.Name(name))
	}
	candidates := all
	if len(all) > 1 {
		candidates = slices.DeleteFunc(slices.Clone(all), func(s *graph.Snapshot) bool { return !slices.ContainsFunc(s.Resources, serving) })
	}
	if len(candidates) == 1 {
		return candidates[0], nil
	}
	several := &SeveralError{Input: name}
	for _, s := range all {
		if s.Name == "" {
			several.Names = append(several.Names, "the resources in no bootstrap and no config_dump")
		} else {
			several.Names = append(several.Names, s.Name)
		}
	}
	return nil, several
}

// patches reports whether a snapshot is that of a patch in a Kubernetes object. Only its control plane knows the result.
func patches(s *graph.Snapshot) bool {
	return len(s.Resources) > 0 && !slices.ContainsFunc(s.Resources, func(r *graph.Resource) bool { return r.Kind != graph.Patch })
}

// serving reports whether a resource belongs to more than the bootstrap of a proxy that gets everything else by pushes.
func serving(r *graph.Resource) bool {
	return r.Kind == graph.Listener || r.Kind != graph.Bootstrap && !r.Outside() && r.Delivery == graph.OverXDS
}

// Placed returns the message of a problem after its place: FILE:LINE:COLUMN: MESSAGE.
func Placed(f *graph.SourceFile, p graph.Problem) string {
	if f.Text == nil {
		return words.Name(f.Name) + ": " + p.Message
	}
	at := f.Position(p.Span.Start)
	return fmt.Sprintf("%s:%d:%d: %s", words.Name(f.Name), at.Line, at.Column, p.Message)
}

// Unreadable returns the problems of resources, which a comparison leaves out. It is an error if a file is not xDS at
// all, since the missing content would look like a difference, or hide one.
func Unreadable(s *graph.Snapshot) (places []string, err error) {
	for _, r := range s.Resources {
		for _, p := range r.Problems {
			if p.Lenient {
				continue
			}
			place := Placed(r.File, p)
			if r.Kind == graph.File {
				return nil, errors.New(place)
			}
			places = append(places, place)
		}
	}
	return places, nil
}
