package fix

import (
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

// maxRounds bounds how often the files are linted again: a fix may allow another one.
const maxRounds = 10

// Work is the input of Rounds.
type Work struct {
	Unsafe bool
	// Lint judges the files, some of them with another text, by their keys.
	Lint func(texts map[string][]byte) (*lint.Result, error)
	// Key returns the same for all names of a file, and "" for one that must not be changed. nil: each file has one name, which is its key.
	Key func(*source.File) string
}

// Outcome is the result of Rounds. Nothing has been written.
type Outcome struct {
	Before, After map[string][]byte // the texts of the files that change, by their keys
	Applied       int               // fixes
	First, Result *lint.Result      // of the texts as they were, and after all fixes
}

// Rounds applies fixes and lints again until nothing is left to fix. It skips a fix after which a file cannot be read or a new
// error is found.
func Rounds(w Work) (*Outcome, error) {
	r := &rounds{Work: w, Outcome: Outcome{Before: map[string][]byte{}, After: map[string][]byte{}}, names: map[string]string{}, dropped: map[string]bool{}}
	if w.Key == nil {
		r.Key = func(f *source.File) string { return f.Name }
	}
	var err error
	if r.Result, err = w.Lint(nil); err != nil {
		return nil, err
	}
	r.First = r.Result
	for range maxRounds {
		more, err := r.round()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	return &r.Outcome, nil
}

type rounds struct {
	Work
	Outcome
	names   map[string]string // the keys of the files with fixes, by all their names
	dropped map[string]bool
}

// candidate is a fix, and the file that it is for.
type candidate struct {
	file string
	text []byte
	id   string
	fix  *lint.Fix
}

func (r *rounds) round() (more bool, err error) {
	all := r.candidates()
	if len(all) == 0 {
		return false, nil
	}
	t := &trial{rounds: r, before: errorsOf(r.Result)}
	if err := t.grow(all); err != nil {
		return false, err
	}
	if len(t.good) == 0 {
		return false, nil
	}
	for _, c := range t.good {
		if r.Before[c.file] == nil {
			r.Before[c.file] = c.text
		}
	}
	r.Applied += len(t.good)
	r.After, r.Result = t.texts, t.result
	return true, nil
}

// candidates are fixes that can be applied together.
func (r *rounds) candidates() []candidate {
	var all []candidate
	patches := map[string]*patch{}
	for i := range r.Result.Diagnostics {
		d := &r.Result.Diagnostics[i]
		fix := Of(d, r.Unsafe)
		if fix == nil {
			continue
		}
		c := candidate{text: d.Resource.File.Text, id: fmt.Sprint(d.Key(), d.Message, fix.Message), fix: fix}
		if r.dropped[c.id] {
			continue
		}
		if c.file = r.Key(d.Resource.File); c.file == "" {
			continue
		}
		r.names[d.Resource.File.Name] = c.file
		if patches[c.file] == nil {
			patches[c.file] = newPatch(c.text)
		}
		if patches[c.file].add(fix.Edits) {
			all = append(all, c)
		}
	}
	return all
}

// trial finds the harmless fixes of one round.
type trial struct {
	*rounds
	before map[errorKey]int
	good   []candidate
	texts  map[string][]byte // with the good ones applied
	result *lint.Result      // of those
}

// grow adds all harmless candidates. If they are harmful together, it tries each half.
func (t *trial) grow(more []candidate) error {
	if len(more) == 0 {
		return nil
	}
	all := slices.Concat(t.good, more)
	texts := t.with(all)
	result, err := t.Lint(texts)
	switch {
	case err != nil:
		return err
	case !t.harmed(texts, result):
		t.good, t.texts, t.result = all, texts, result
		return nil
	case len(more) == 1:
		t.dropped[more[0].id] = true
		return nil
	}
	half := len(more) / 2
	if err := t.grow(more[:half]); err != nil {
		return err
	}
	return t.grow(more[half:])
}

func (t *trial) with(all []candidate) map[string][]byte {
	patches := map[string]*patch{}
	for _, c := range all {
		if patches[c.file] == nil {
			patches[c.file] = newPatch(c.text)
		}
		patches[c.file].add(c.fix.Edits)
	}
	texts := map[string][]byte{}
	for file, text := range t.After {
		texts[file] = text
	}
	for file, p := range patches {
		texts[file] = p.apply()
	}
	return texts
}

// harmed reports whether there is a new error, a file that can no longer be read, or a rule that failed.
func (t *trial) harmed(texts map[string][]byte, result *lint.Result) bool {
	if len(result.Failures) > len(t.Result.Failures) {
		return true
	}
	for key, n := range errorsOf(result) {
		if n > t.before[key] {
			return true
		}
	}
	read := map[string]bool{}
	for _, s := range result.Snapshots {
		for _, r := range s.Resources {
			if r.Kind != graph.File {
				read[t.names[r.File.Name]] = true
			}
		}
	}
	for file := range texts {
		if !read[file] {
			return true
		}
	}
	return false
}

// errorKey identifies an error without its place, which moves.
type errorKey struct{ rule, file, message string }

func errorsOf(result *lint.Result) map[errorKey]int {
	count := map[errorKey]int{}
	for i := range result.Diagnostics {
		if d := &result.Diagnostics[i]; d.Rejected || d.Severity == lint.Error {
			key := errorKey{d.Rule.ID(), d.Resource.File.Name, d.Message}
			if d.More > 0 {
				key.message = "" // it has the number
			}
			count[key] += d.Count()
		}
	}
	return count
}
