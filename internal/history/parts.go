package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/xdslint/xdslint/internal/source"
)

// MaxSize is the size of the largest part that is read.
const MaxSize = source.MaxSize

// Version of the format.
const Version = 1

// Header is in the first line of a part.
type Header struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Part    int    `json:"part"`
}

// Part is a file of a recording.
type Part struct {
	Header
	File *source.File
	Body int // the offset after the header
}

// errNot is the error for a file that is not a recording.
var errNot = errors.New("not a recording: its first line is not {\"recording\": …}")

var begins = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\{\s*"recording"\s*:`) })

// Is reports whether a text is a part of a recording.
func Is(f *source.File) bool {
	for line := range f.Records(0) {
		return begins().Match(f.Text[line.Start:line.End])
	}
	return false
}

// Parts reads the headers of files. Parts of one recording follow one another, in the order of their numbers; otherwise
// the files keep their order. An empty file is a part whose writer was stopped before its first line.
func Parts(files []*source.File) ([]Part, error) {
	var parts []Part
	order := map[string]int{}
	for _, f := range files {
		if len(f.Text) == 0 {
			continue
		}
		p, err := head(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		if _, known := order[p.ID]; !known {
			order[p.ID] = len(order)
		}
		parts = append(parts, p)
	}
	slices.SortStableFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(order[a.ID], order[b.ID]), cmp.Compare(a.Part, b.Part))
	})
	return parts, nil
}

// Follows reports whether a part continues another one.
func (p Part) Follows(before Part) bool { return p.ID == before.ID && p.Part == before.Part+1 }

func head(f *source.File) (Part, error) {
	if len(f.Text) > MaxSize {
		return Part{}, fmt.Errorf("more than %d MiB: record in smaller parts", MaxSize>>20)
	}
	for line := range f.Records(0) {
		var l struct{ Recording *Header }
		if err := json.Unmarshal(f.Text[line.Start:line.End], &l); err != nil || l.Recording == nil {
			return Part{}, errNot
		}
		if l.Recording.Version != Version {
			return Part{}, fmt.Errorf("a recording of version %d, and only version %d is known", l.Recording.Version, Version)
		}
		return Part{*l.Recording, f, line.End}, nil
	}
	return Part{}, errNot
}
