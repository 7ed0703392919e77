package envoytest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Question is a question to Envoy about one text. Either Envoy answers it, or a record of an earlier answer.
type Question struct {
	About  string // in the record, for people: bad.yaml
	Way    string // in which Envoy was asked: validate, push, start, seen
	Digest string // of all that the answer depends on
}

// Digest returns a digest of files by their names.
func Digest(files map[string]string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%d %s %d %s", len(name), name, len(files[name]), files[name])
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Records are the verdicts in a file, which a test with -update writes:
//
//	bad.yaml validate 67b176705b46206a
//	  accept 1.36.4 1.37.0
//	  reject 1.38.3 1.39.3 1.40.0: Proto constraint validation failed
//
// What is recorded of the very text and the very version is believed. Where the test is Thorough, Envoy is asked, and the record must say the same.
type Records struct {
	path   string
	update bool
	all    bool // ask, whatever is recorded
	mu     sync.Mutex
	known  map[Question]map[string]Verdict // by version in full
	asked  map[Question]map[string]Verdict // in this run
}

// OpenRecords reads a file of records, which need not exist yet.
func OpenRecords(path string, update bool) (*Records, error) {
	r := &Records{path: path, update: update, known: map[Question]map[string]Verdict{}, asked: map[Question]map[string]Verdict{}}
	r.all = !update && Thorough()
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	var q Question
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		answer, isAnswer := strings.CutPrefix(line, "  ")
		switch {
		case strings.HasPrefix(line, "#"):
		case isAnswer:
			said, message, _ := strings.Cut(answer, ": ")
			words := strings.Fields(said)
			for _, version := range words[1:] {
				note(r.known, q, version, Verdict{Outcome(words[0]), message})
			}
		default:
			words := strings.Fields(line)
			if len(words) != 3 {
				return nil, fmt.Errorf("%s: %q is not ABOUT WAY DIGEST", path, line)
			}
			q = Question{words[0], words[1], words[2]}
		}
	}
	return r, nil
}

func note(verdicts map[Question]map[string]Verdict, q Question, version string, v Verdict) {
	if verdicts[q] == nil {
		verdicts[q] = map[string]Verdict{}
	}
	verdicts[q][version] = v
}

// Ask returns the recorded verdict of a version, or the result of ask.
func (r *Records) Ask(v Version, q Question, ask func() (Verdict, error)) (Verdict, error) {
	version, err := v.Full()
	if err != nil {
		return Verdict{}, err
	}
	r.mu.Lock()
	recorded, known := r.known[q][version]
	r.mu.Unlock()
	verdict := recorded
	if !known || r.all {
		if verdict, err = ask(); err != nil {
			return verdict, err
		}
	}
	r.mu.Lock()
	note(r.asked, q, version, verdict)
	r.mu.Unlock()
	switch {
	case r.update || known && recorded.Outcome == verdict.Outcome:
		return verdict, nil
	case known:
		return verdict, fmt.Errorf("%s has %s of Envoy %s (-update corrects it): now it says %s", r.path, recorded, version, verdict)
	case r.all:
		return verdict, fmt.Errorf("%s has nothing of Envoy %s about this (-update writes it): it says %s", r.path, version, verdict)
	}
	return verdict, nil
}

// maxRecorded is the length to which a recorded message is cut: enough to recognise it.
const maxRecorded = 160

// Write writes the answers of this run, under -update.
func (r *Records) Write() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.update {
		return nil
	}
	if len(r.asked) == 0 {
		err := os.Remove(r.path)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o755); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# What Envoy says. Written by `make update`; see internal/envoytest/records.go.\n")
	for _, q := range slices.SortedFunc(maps.Keys(r.asked), compareQuestions) {
		fmt.Fprintf(&b, "%s %s %s\n", q.About, q.Way, q.Digest)
		by := map[string][]string{} // versions by what they say
		for _, version := range slices.Sorted(maps.Keys(r.asked[q])) {
			line := r.asked[q][version].String()
			by[line] = append(by[line], version)
		}
		for _, line := range slices.Sorted(maps.Keys(by)) {
			outcome, message, _ := strings.Cut(line, ":")
			if message != "" {
				message = ":" + strings.TrimRight(message[:min(len(message), maxRecorded)], " ")
			}
			fmt.Fprintf(&b, "  %s %s%s\n", outcome, strings.Join(by[line], " "), message)
		}
	}
	return os.WriteFile(r.path, []byte(b.String()), 0o644)
}

func compareQuestions(a, b Question) int {
	return cmp.Or(strings.Compare(a.About, b.About), strings.Compare(a.Way, b.Way), strings.Compare(a.Digest, b.Digest))
}
