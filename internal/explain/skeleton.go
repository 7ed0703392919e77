package explain

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/testdata"
)

// Skeleton is the bootstrap around an example whose first line is "# in: NAME": testdata/skeletons/NAME.yaml. The example's lines replace
// the line "# example", with its indentation.
type Skeleton struct {
	Name          string // empty: the example is whole
	before, after string
	indent        string
}

const placeholder = "# example\n"

// Skeleton returns the skeleton that the first line names.
func (f File) Skeleton() (s Skeleton, err error) {
	first, _, _ := strings.Cut(f.Text, "\n")
	name, ok := strings.CutPrefix(first, "# in: ")
	if !ok {
		return s, nil
	}
	text, err := fs.ReadFile(testdata.Rules, "skeletons/"+name+".yaml")
	if err != nil {
		return s, fmt.Errorf("%s: no skeleton is named %q: they are in testdata/skeletons", f.Name, name)
	}
	before, after, _ := strings.Cut(string(text), placeholder)
	start := strings.LastIndex(before, "\n") + 1
	return Skeleton{name, before[:start], after, before[start:]}, nil
}

func (s Skeleton) whole(text string) string {
	var b strings.Builder
	b.WriteString(s.before)
	for line := range strings.Lines(text) {
		b.WriteString(s.indentOf(line) + line)
	}
	b.WriteString(s.after)
	return b.String()
}

func (s Skeleton) indentOf(line string) string {
	if line == "\n" {
		return ""
	}
	return s.indent
}

// offset translates a place in the whole to one in the text. It is not ok for a place in the skeleton.
func (s Skeleton) offset(text string, whole int) (at int, ok bool) {
	whole -= len(s.before)
	for line := range strings.Lines(text) {
		indent := len(s.indentOf(line))
		if whole < indent+len(line) {
			return at + max(whole-indent, 0), whole >= 0
		}
		whole -= indent + len(line)
		at += len(line)
	}
	return at, whole == 0
}

// text returns the text inside the skeleton. It is not ok if the skeleton has been changed.
func (s Skeleton) text(whole string) (text string, ok bool) {
	inner, begins := strings.CutPrefix(whole, s.before)
	inner, ends := strings.CutSuffix(inner, s.after)
	ok = begins && ends
	var b strings.Builder
	for line := range strings.Lines(inner) {
		rest, indented := strings.CutPrefix(line, s.indentOf(line))
		ok = ok && indented
		b.WriteString(rest)
	}
	return b.String(), ok
}

// Whole returns the file with its skeleton around it, or unchanged if the skeleton does not exist.
func (f File) Whole() string {
	s, _ := f.Skeleton()
	return s.whole(f.Text)
}

// Fixed returns the text of the file after fixes, of which whole is the result.
func (f File) Fixed(whole string) (string, error) {
	s, err := f.Skeleton()
	if err != nil {
		return "", err
	}
	text, ok := s.text(whole)
	if !ok {
		return "", fmt.Errorf("%s: a fix changes the skeleton %q: write the example without a skeleton", f.Name, s.Name)
	}
	return text, nil
}

// ReadArchive reads an archive, its examples with their skeletons around them.
func ReadArchive(path string) (*txtar.Archive, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseArchive(text), nil
}

// ParseArchive is ReadArchive for a text.
func ParseArchive(text []byte) *txtar.Archive {
	a := txtar.Parse(text)
	for i, f := range a.Files {
		a.Files[i].Data = []byte(File{f.Name, string(f.Data)}.Whole())
	}
	return a
}
