package load

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
)

// ErrNothing says that an input holds nothing of xDS.
var ErrNothing = errors.New("nothing of xDS is there")

// SeveralError says that an input holds more configurations than one.
type SeveralError struct {
	Input string
	Names []string
}

func (e *SeveralError) Error() string {
	return fmt.Sprintf("%s holds %d configurations, and only one can be compared: name one of %s", e.Input, len(e.Names), strings.Join(e.Names, "; "))
}

// One chooses what an input of that name is about, to compare it: the only snapshot, or the only one of several that traffic or a push has
// to do with, such as the resources that lie beside a bootstrap without any.
func (in *Input) One(name string) (*graph.Snapshot, error) {
	if len(in.Snapshots) == 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrNothing)
	}
	all := slices.DeleteFunc(slices.Clone(in.Snapshots), patches)
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds patches and nothing that they patch: there is no configuration to compare", name)
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
		if s.Partial {
			several.Names = append(several.Names, "the resources in no bootstrap and no config_dump")
		} else {
			several.Names = append(several.Names, s.Name)
		}
	}
	return nil, several
}

// patches tells the snapshot of a patch in a Kubernetes object: what comes of it only its control plane knows.
func patches(s *graph.Snapshot) bool {
	return len(s.Resources) > 0 && !slices.ContainsFunc(s.Resources, func(r *graph.Resource) bool { return r.Kind != graph.Patch })
}

// serving tells whether a resource makes its snapshot more than the bootstrap of a proxy that gets all else pushed.
func serving(r *graph.Resource) bool {
	return r.Kind == graph.Listener || r.Kind != graph.Bootstrap && r.Kind != graph.File && r.Delivery == graph.OverXDS
}

// Placed is what is wrong, behind where it stands.
func Placed(f *graph.SourceFile, p graph.Problem) string {
	if f.Text == nil {
		return f.Name + ": " + p.Message
	}
	at := f.Position(p.Span.Start)
	return fmt.Sprintf("%s:%d:%d: %s", f.Name, at.Line, at.Column, p.Message)
}

// Unreadable lists what is wrong in resources, and so takes no part in a comparison. A file that is no xDS at all is an error: what it
// should hold would look like a difference, or hide one.
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
