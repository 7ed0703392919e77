package explain

import (
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

// Shown translates a result for whole files to the files without their skeletons, which readers see.
func Shown(result *lint.Result, files []File) (*lint.Result, error) {
	s := shown{map[string]*inner{}, map[*graph.Resource]*graph.Resource{}}
	for _, f := range files {
		skeleton, err := f.Skeleton()
		if err != nil {
			return nil, err
		}
		if skeleton.Name != "" {
			s.files[f.Name] = &inner{skeleton, &source.File{Name: f.Name, Text: []byte(f.Text)}}
		}
	}
	out := *result
	out.Diagnostics = slices.Clone(result.Diagnostics)
	for i := range out.Diagnostics {
		d := &out.Diagnostics[i]
		d.Related = slices.Clone(d.Related)
		for j := range d.Related {
			if err := s.move(&d.Related[j].Resource, &d.Related[j].Span); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", d.Rule.ID(), d.Related[j].Message, err)
			}
		}
		if err := s.move(&d.Resource, &d.Span); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", d.Rule.ID(), d.Message, err)
		}
	}
	return &out, nil
}

type shown struct {
	files     map[string]*inner
	resources map[*graph.Resource]*graph.Resource
}

// inner is a file without its skeleton.
type inner struct {
	Skeleton
	file *source.File
}

func (s *shown) move(r **graph.Resource, span *source.Span) error {
	f := s.files[(*r).File.Name]
	if f == nil {
		return nil
	}
	start, begins := f.offset(string(f.file.Text), span.Start)
	end, ends := f.offset(string(f.file.Text), span.End)
	if !begins || !ends {
		at := (*r).File.Position(span.Start)
		return fmt.Errorf("found at %s:%d, in the skeleton %q: write the example without a skeleton", f.file.Name, at.Line, f.Name)
	}
	*span = source.Span{Start: start, End: end}
	if s.resources[*r] == nil {
		moved := (*r).As((*r).Name, (*r).Message)
		moved.File, moved.Text = f.file, nil
		s.resources[*r] = moved
	}
	*r = s.resources[*r]
	return nil
}
