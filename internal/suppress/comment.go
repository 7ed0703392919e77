package suppress

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/lint"
)

const mark = "xdslint:"

// comment is one `# xdslint:ignore=rule[,rule] -- reason`.
type comment struct {
	file  *source.File
	rules []selector
	noted []lint.Diagnostic // findings about the comment itself
}

type selector struct {
	text string
	span source.Span
	used bool
}

// line is a line to which a comment applies.
type line struct {
	file *source.File
	n    int
}

type comments struct {
	all    []*comment
	byLine map[line][]*comment
}

// collect reads the comments in all files of a result.
func collect(result *lint.Result, known []*lint.Rule) *comments {
	c := &comments{byLine: map[line][]*comment{}}
	resources := map[*source.File][]*graph.Resource{}
	var files []*source.File
	for _, s := range result.Snapshots {
		for _, r := range s.Resources {
			if resources[r.File] == nil {
				files = append(files, r.File)
			}
			resources[r.File] = append(resources[r.File], r)
		}
	}
	for _, f := range files {
		// JSON has no comments: the mark can only be part of a string.
		if !strings.EqualFold(filepath.Ext(f.Name), ".json") {
			c.file(f, resources[f], known)
		}
	}
	return c
}

func (c *comments) file(f *source.File, resources []*graph.Resource, known []*lint.Rule) {
	if !bytes.Contains(f.Text, []byte(mark)) {
		return
	}
	texts, next := textsOf(resources), 0 // next: the line that the latest comment without other text on its line applies to
	for at := 0; ; {
		i := bytes.Index(f.Text[at:], []byte(mark))
		if i < 0 {
			return
		}
		at += i
		n := f.Position(at).Line
		text, start := f.Line(n)
		head := bytes.TrimRight(text[:at-start], " \t")
		// A comment begins the line or follows white space.
		hash := len(head) - 1
		if hash >= 0 && head[hash] == '#' && (hash == 0 || head[hash-1] == ' ' || head[hash-1] == '\t') && !texts.hold(start+hash) {
			one := parse(f, source.Span{Start: start + hash, End: start + len(text)}, string(text[at-start:]), at, known)
			c.all = append(c.all, one)
			if len(bytes.TrimSpace(head[:hash])) == 0 {
				if n >= next {
					next = below(f, n)
				}
				n = next
			}
			c.byLine[line{f, n}] = append(c.byLine[line{f, n}], one)
		}
		at += len(mark)
	}
}

// below returns the line to which a comment without other text on its line applies: the next one that is not a comment.
func below(f *source.File, n int) int {
	for n++; n < f.Lines(); n++ {
		if text, _ := f.Line(n); !bytes.HasPrefix(bytes.TrimSpace(text), []byte("#")) {
			break
		}
	}
	return n
}

// texts are the places of a file's strings, in order, where # does not begin a comment.
type texts []source.Span

func textsOf(resources []*graph.Resource) texts {
	var all texts
	seen := map[*tree.Node]bool{}
	for _, r := range resources {
		if root := r.Text.Root(); root != nil && !seen[root] {
			seen[root] = true
			all = all.with(root)
		}
	}
	slices.SortFunc(all, func(a, b source.Span) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	return all
}

func (t texts) with(n *tree.Node) texts {
	if n.Kind == tree.String {
		return append(t, n.Span())
	}
	for i := range n.Items {
		t = t.with(&n.Items[i])
	}
	return t
}

func (t texts) hold(offset int) bool {
	i, _ := slices.BinarySearchFunc(t, offset+1, func(s source.Span, offset int) int { return s.Start - offset })
	return i > 0 && offset < t[i-1].End
}

// parse reads the comment at span; text begins at offset, with the mark.
func parse(f *source.File, span source.Span, text string, offset int, known []*lint.Rule) *comment {
	c := &comment{file: f}
	list, ok := strings.CutPrefix(text, mark+"ignore=")
	names, _, _ := strings.Cut(list, " --")
	if !ok || strings.Trim(names, ", \t\r") == "" {
		d := about(Malformed, f, span, "invalid suppression comment")
		d.Help = "write # xdslint:ignore=RULE -- REASON"
		c.noted = append(c.noted, d)
		return c
	}
	offset += len(mark + "ignore=")
	list, reason, _ := strings.Cut(list, " --")
	for name := range strings.SplitSeq(list, ",") {
		trimmed := strings.TrimSpace(name)
		start := offset + strings.Index(name, trimmed)
		at := source.Span{Start: start, End: start + len(trimmed)}
		offset += len(name) + 1
		if trimmed == "" {
			continue
		}
		if !ran(trimmed, known) {
			d := about(Unused, f, at, fmt.Sprintf("no rule is named %q", trimmed))
			if near := lint.Nearest(trimmed, ids(known)); near != "" {
				d.Help = fmt.Sprintf("did you mean %q?", near)
			}
			c.noted = append(c.noted, d)
			continue
		}
		c.rules = append(c.rules, selector{text: trimmed, span: at})
	}
	if strings.TrimSpace(reason) == "" {
		d := about(NoReason, f, span, "this suppression has no reason")
		d.Help = "write a reason after the rule: -- REASON"
		c.noted = append(c.noted, d)
	}
	return c
}

func ids(rules []*lint.Rule) []string {
	all := make([]string, len(rules))
	for i, r := range rules {
		all[i] = r.ID()
	}
	return all
}

// hide reports whether a comment suppresses the finding.
func (c *comments) hide(d *lint.Diagnostic) bool {
	if len(c.all) == 0 || d.Span.IsZero() {
		return false
	}
	f, hidden := d.Resource.File, false
	for _, one := range c.byLine[line{f, f.Position(d.Span.Start).Line}] {
		for i := range one.rules {
			if d.Rule.Match(one.rules[i].text) {
				one.rules[i].used, hidden = true, true
			}
		}
	}
	return hidden
}

// report returns the findings about comments. All other findings must have been passed to hide before.
func (c *comments) report(rules []*lint.Rule) (all []lint.Diagnostic) {
	for _, one := range c.all {
		all = append(all, one.noted...)
		for _, s := range one.rules {
			if !s.used && ran(s.text, rules) {
				all = append(all, about(Unused, one.file, s.span, fmt.Sprintf("this suppression hides nothing: %s is not found here", s.text)))
			}
		}
	}
	return all
}
