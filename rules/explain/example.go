// Package explain says what a rule is about: its texts, and an example out of the archive that the tests check.
package explain

import (
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/lint"
)

// File is one file of an example.
type File struct{ Name, Text string }

// Example is a configuration that a rule has something to say about, and its mended twin. For a rule about pushes, both are
// what is before the push and what is after it.
type Example struct {
	Bad, Good []File // several where one names the other
	Flags     string // what xdslint has to be told: --closed cluster
	Report    string // what it then says of Bad
}

// Of reads the first example of a rule, and the good one that is most like it. There is none for a rule whose findings are not about xDS.
func Of(rule *lint.Rule) (e Example, ok bool) {
	text, err := xdslint.Examples.ReadFile("testdata/rules/" + rule.ID() + ".txtar")
	if err != nil {
		return e, false
	}
	archive := txtar.Parse(text)
	bad := ""
	if names := examples(archive, "bad"); len(names) > 0 {
		bad = names[0]
	}
	e.Bad = files(archive, bad)
	nearest := 0
	for _, good := range examples(archive, "good") {
		mended := files(archive, good)
		if d := distance(e.Bad, mended); e.Good == nil || d < nearest {
			e.Good, nearest = mended, d
		}
	}
	for _, f := range archive.Files {
		switch f.Name {
		case "want":
			e.Report = reportOf(string(f.Data), bad)
		case "flags":
			e.Flags = flagsOf(string(f.Data), bad)
		}
	}
	return e, bad != ""
}

// examples lists those whose names begin so.
func examples(a *txtar.Archive, prefix string) (names []string) {
	for _, f := range a.Files {
		if name, _, _ := strings.Cut(f.Name, "/"); strings.HasPrefix(name, prefix) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// distance is in how many lines two examples differ.
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

// reportOf picks an example's findings, which blank lines part.
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

// flagsOf spells an archive's flags as on the command line: those of the example, or those of all.
func flagsOf(text, example string) string {
	var own, all []string
	for line := range strings.Lines(text) {
		name, flag, one := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case !one:
			all = append(all, spelled(name))
		case name == example:
			own = append(own, spelled(flag))
		}
	}
	if own == nil {
		own = all
	}
	return strings.Join(own, " ")
}

func spelled(flag string) string {
	if push, ok := strings.CutPrefix(flag, "push "); ok {
		transport, versions, _ := strings.Cut(push, " ")
		return "--transport " + transport + " --versions " + versions
	}
	return "--" + flag
}

// Command is what gives the report.
func (e Example) Command() string {
	root, _, _ := strings.Cut(e.Bad[0].Name, "/")
	words := []string{"xdslint", e.Flags, root}
	if before, after := e.halves(); before != "" {
		words = []string{"xdslint plan", e.Flags, before, after}
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " ")
}

// halves are the paths of what is before a push and after it; empty where the example is none.
func (e Example) halves() (before, after string) {
	for _, f := range e.Bad {
		if otherHalf(f, e.Bad) == (File{}) {
			continue
		}
		parts := strings.SplitN(f.Name, "/", 3)
		switch half := parts[0] + "/" + parts[1]; sideOf(f) {
		case "old":
			before = half
		case "new":
			after = half
		}
	}
	return before, after
}

// sideOf tells which half of a push a file is of: bad/old.yaml and bad/old/rds.yaml are of "old".
func sideOf(f File) string {
	_, below, _ := strings.Cut(f.Name, "/")
	half, _, _ := strings.Cut(below, "/")
	return strings.TrimSuffix(half, path.Ext(half))
}

// otherHalf is the file of a push that stands on the other side of it, or the first one of that side.
func otherHalf(f File, files []File) (first File) {
	other := map[string]string{"old": "new", "new": "old"}[sideOf(f)]
	for _, g := range files {
		switch {
		case other == "" || sideOf(g) != other:
		case g.Name == strings.Replace(f.Name, "/"+sideOf(f), "/"+other, 1):
			return g
		case first == (File{}):
			first = g
		}
	}
	return first
}

// twin is the file of the other side that a file is to be compared with: bad1/rds.yaml with good1/rds.yaml, or the first
// with the first.
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

// language of a file, for the fences of Markdown.
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
