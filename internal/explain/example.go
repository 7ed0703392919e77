// Package explain explains a rule: its texts, and an example from the archive that the tests check.
package explain

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/testdata"
)

// File is one file of an example.
type File struct{ Name, Text string }

// Example is a configuration that a rule reports, and its corrected twin. For a rule about pushes, each holds the snapshots before
// and after the push.
type Example struct {
	Bad, Good []File // several if one names another
	Flags     Flags  // of the command for Bad
	GoodFlags Flags  // of the command for Good
	Report    string // findings of the rule in Bad
	Seen      string // what a running Envoy does with Bad; may be empty
	GoodSeen  string // the same of Good
	Select    string // the rule, if other rules report Bad too, as they may in a profile
}

// Sample is one of the examples in a rule's archive.
type Sample struct {
	Name  string // begins with bad or good
	Files []File
	Flags Flags
	Seen  string // what a running Envoy does with it; may be empty
}

// Seen is the folder of an archive that has the evidence of its examples: what a running Envoy does with them (package internal/evidence).
const Seen = "seen"

// Bad reports whether the rule has findings in the sample.
func (s Sample) Bad() bool { return strings.HasPrefix(s.Name, "bad") }

// Samples returns all examples of a rule.
func Samples(rule *lint.Rule) []Sample {
	archive, ok := read(rule)
	if !ok {
		return nil
	}
	all, _ := SamplesOf(archive) // with invalid flags there is nothing to show
	return all
}

// SamplesOf returns all examples in an archive, the bad ones first.
func SamplesOf(archive *txtar.Archive) (all []Sample, err error) {
	for _, name := range append(examples(archive, "bad"), examples(archive, "good")...) {
		s, err := sample(archive, name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func sample(a *txtar.Archive, name string) (Sample, error) {
	s := Sample{Name: name, Files: files(a, name), Seen: textOf(a, Seen+"/"+name)}
	for _, f := range s.Files {
		if _, err := f.Skeleton(); err != nil {
			return s, err
		}
	}
	var err error
	s.Flags, err = flagsOf(textOf(a, "flags"), name)
	return s, err
}

func read(rule *lint.Rule) (*txtar.Archive, bool) {
	file, from := "rules/"+rule.ID()+".txtar", fs.FS(testdata.Rules)
	if rule.Origin != nil {
		file, from = rule.ID()+".txtar", rule.Origin.Examples
	}
	if from == nil {
		return nil, false
	}
	text, err := fs.ReadFile(from, file)
	if err != nil {
		return nil, false
	}
	return txtar.Parse(text), true
}

// Why returns the explanation of a rule, in Markdown: why.md of its archive, or Rule.Why for a rule that is not built in.
func Why(rule *lint.Rule) string {
	why := rule.Why
	if archive, ok := read(rule); ok && why == "" {
		why = textOf(archive, "why.md")
	}
	return strings.TrimSpace(why)
}

func textOf(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// Of returns the first example of a rule, and the good one that is most similar. It is not ok for a rule without examples, such as one
// whose findings are not about xDS.
func Of(rule *lint.Rule) (e Example, ok bool) {
	archive, ok := read(rule)
	if !ok {
		return e, false
	}
	samples, err := SamplesOf(archive)
	if err != nil || len(samples) == 0 || !samples[0].Bad() {
		return e, false
	}
	bad := samples[0]
	e.Bad, e.Flags, e.Seen, e.Report = bad.Files, bad.Flags, bad.Seen, reportOf(textOf(archive, "want"), bad.Name)
	if bad.Flags.Profile != "" || strings.Contains("\n"+textOf(archive, "also"), "\n"+bad.Name+": ") {
		e.Select = rule.ID()
	}
	if good := nearestGood(samples); good != nil {
		e.Good, e.GoodFlags, e.GoodSeen = good.Files, good.Flags, good.Seen
	}
	return e, true
}

// nearestGood returns the good sample that is most similar to the first one, which is bad; nil if none is good.
func nearestGood(samples []Sample) (nearest *Sample) {
	least := 0
	for i := range samples {
		if samples[i].Bad() {
			continue
		}
		if d := distance(samples[0].Files, samples[i].Files); nearest == nil || d < least {
			nearest, least = &samples[i], d
		}
	}
	return nearest
}

// examples lists the examples whose names have the prefix.
func examples(a *txtar.Archive, prefix string) (names []string) {
	for _, f := range a.Files {
		if name, _, _ := strings.Cut(f.Name, "/"); strings.HasPrefix(name, prefix) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// distance is the number of lines in which two examples differ.
func distance(bad, good []File) (n int) {
	for _, f := range bad {
		n += len(differing(f, twin(f, bad, good)))
	}
	for _, f := range good {
		n += len(differing(f, twin(f, good, bad)))
	}
	return n
}

func files(a *txtar.Archive, example string) (all []File) {
	for _, f := range a.Files {
		if name, _, _ := strings.Cut(f.Name, "/"); name == example {
			all = append(all, File{f.Name, string(f.Data)})
		}
	}
	return all
}

// reportOf selects an example's findings, which are separated by blank lines.
func reportOf(want, example string) string {
	var own []string
	for finding := range strings.SplitSeq(strings.TrimSpace(want), "\n\n") {
		_, at, _ := strings.Cut(finding, "--> ")
		if at == example || strings.HasPrefix(at, example+":") || strings.HasPrefix(at, example+"\n") || strings.HasPrefix(at, example+"/") {
			own = append(own, finding)
		}
	}
	return strings.Join(own, "\n\n") + "\n"
}

// Command returns the command that prints the report.
func (e Example) Command() string {
	root, _, _ := strings.Cut(e.Bad[0].Name, "/")
	words := []string{"xdslint", e.Flags.String(), root}
	if e.Select != "" {
		words = slices.Insert(words, 1, "--select", e.Select)
	}
	if before, after := e.halves(); before != "" {
		words = []string{"xdslint plan", e.Flags.String(), before, after}
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " ")
}

// halves returns the paths of the snapshots before and after a push; empty if the example is not a push.
func (e Example) halves() (before, after string) {
	for _, f := range e.Bad {
		if otherHalf(f, e.Bad) == (File{}) {
			continue
		}
		parts := strings.SplitN(f.Name, "/", 3)
		switch half := parts[0] + "/" + parts[1]; f.Side() {
		case "old":
			before = half
		case "new":
			after = half
		}
	}
	return before, after
}

// Side returns the half of a push to which a file belongs: bad/old.yaml and bad/old/rds.yaml belong to "old".
func (f File) Side() string {
	_, below, _ := strings.Cut(f.Name, "/")
	half, _, _ := strings.Cut(below, "/")
	return strings.TrimSuffix(half, path.Ext(half))
}

// otherHalf returns the counterpart of a file on the other side of a push, or the first file of that side.
func otherHalf(f File, files []File) (first File) {
	other := map[string]string{"old": "new", "new": "old"}[f.Side()]
	for _, g := range files {
		switch {
		case other == "" || g.Side() != other:
		case g.Name == strings.Replace(f.Name, "/"+f.Side(), "/"+other, 1):
			return g
		case first == (File{}):
			first = g
		}
	}
	return first
}

// twin returns the file of the other example to compare a file with: good1/rds.yaml for bad1/rds.yaml, or the first file for
// the first.
func twin(f File, own, others []File) File {
	_, below, _ := strings.Cut(f.Name, "/")
	for _, other := range others {
		if _, name, ok := strings.Cut(other.Name, "/"); ok && name == below {
			return other
		}
	}
	if len(others) > 0 && f == own[0] {
		return others[0]
	}
	return File{}
}

// language returns the language of a file, for fences in Markdown.
func (f File) language() string {
	switch ext := strings.TrimPrefix(path.Ext(f.Name), "."); ext {
	case "yml":
		return "yaml"
	case "pb_text", "txtpb":
		return "textproto"
	default:
		return ext
	}
}
