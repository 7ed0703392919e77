package explain

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/internal/suppress"
	"github.com/xdslint/xdslint/lint"
)

// Page returns the rule's page under docs/rules, in Markdown.
func Page(rule *lint.Rule) string {
	var b strings.Builder
	if rule.Origin == nil {
		b.WriteString("<!-- Made of the rule and its archive by `make update`. -->\n\n")
	}
	fmt.Fprintf(&b, "# %s\n\n%s\n\nSeverity: %s\n\n## Why\n\n%s\n", rule.ID(), Sentence(rule.Summary), Severities(rule, "**"), wrapped(Why(rule)))
	if e, ok := Of(rule); ok {
		b.WriteString("\n## Example\n\n" + e.markdown())
	}
	b.WriteString("\n## Suppressing it\n\n" + suppressing(rule))
	if len(rule.Links) > 0 {
		b.WriteString("\n## See also\n\n")
		for _, link := range rule.Links {
			fmt.Fprintf(&b, "- %s\n", linked(link))
		}
	}
	return b.String()
}

// width is that of a page.
const width = 120

// wrapped breaks the lines of a text that are wider than a page, except for its code and tables.
func wrapped(markdown string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(markdown) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") {
			b.WriteString(line)
			continue
		}
		for utf8.RuneCountInString(strings.TrimSpace(line)) > width {
			at := lastSpace(line, width)
			if at < 0 {
				break
			}
			b.WriteString(line[:at] + "\n")
			line = line[at+1:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// lastSpace returns the last space at which at most limit runes of a line come before it, -1 if there is none.
func lastSpace(line string, limit int) int {
	last, runes := -1, 0
	for at, r := range line {
		if runes > limit {
			break
		}
		if r == ' ' {
			last = at
		}
		runes++
	}
	return last
}

// Help returns short Markdown texts about a rule: why it matters, and the same with a shortened example.
func Help(rule *lint.Rule) (why, help string) {
	if rule.Origin != nil {
		return makeHelp(rule)
	}
	once, _ := builtinHelp.LoadOrStore(rule, sync.OnceValues(func() (why, help string) { return makeHelp(rule) }))
	return once.(func() (string, string))()
}

// builtinHelp keeps the help of built-in rules (*lint.Rule → func() (why, help string)): a SARIF log has that of every
// rule, and a server writes many logs.
var builtinHelp sync.Map

func makeHelp(rule *lint.Rule) (why, help string) {
	why = Why(rule)
	help = why
	if e, ok := Of(rule); ok {
		help += "\n\n" + e.Short().markdown()
	}
	return why, strings.TrimSpace(help)
}

func (e Example) markdown() string {
	var b strings.Builder
	blocks(&b, e.Bad)
	b.WriteString(around(e.Bad))
	fmt.Fprintf(&b, "`%s` reports:\n\n```text\n%s```\n", e.Command(), e.Report)
	b.WriteString(seen(e.Seen))
	if len(e.Good) > 0 {
		b.WriteString("\nNot reported:\n\n")
		blocks(&b, e.Good)
		b.WriteString(strings.TrimPrefix(seen(e.GoodSeen), "\n"))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// seen shows what a running Envoy does with an example.
func seen(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("\n%s:\n\n```text\n%s\n```\n", SeenOn(), strings.TrimSpace(text))
}

// SeenOn is the heading of what a running Envoy does.
func SeenOn() string { return "Seen on Envoy " + dataplane.Default().Version }

// around explains the first line of an example, which names its skeleton.
func around(files []File) string {
	for _, f := range files {
		if s, err := f.Skeleton(); err == nil && s.Name != "" {
			return fmt.Sprintf("`# in: %s` means that the example is a part of [this bootstrap](https://github.com/xdslint/xdslint/blob/main/testdata/skeletons/%[1]s.yaml).\n\n", s.Name)
		}
	}
	return ""
}

func blocks(b *strings.Builder, files []File) {
	for _, f := range files {
		if len(files) > 1 || f.Text == "" {
			fmt.Fprintf(b, "`%s`", f.Name)
			if f.Text == "" {
				b.WriteString(" is empty.\n\n")
				continue
			}
			b.WriteString(":\n\n")
		}
		fmt.Fprintf(b, "```%s\n%s\n```\n\n", f.language(), strings.TrimRight(f.Text, "\n"))
	}
}

// suppressing explains how to suppress the findings of a rule. Findings about suppressions are not in a resource.
func suppressing(rule *lint.Rule) string {
	var b strings.Builder
	if rule.Group == suppress.Rules.Name || rule == lint.CannotJudge {
		fmt.Fprintf(&b, "For one run: `--ignore %s`. For all runs, in `.xdslint.yaml`:\n\n", rule.ID())
	} else {
		fmt.Fprintf(&b, "To suppress one finding, write a comment on its line or above it:\n\n```yaml\n# xdslint:ignore=%s -- REASON\n```\n\n", rule.ID())
		fmt.Fprintf(&b, "To suppress the findings in some resources, in `.xdslint.yaml`:\n\n```yaml\nignores:\n- rule: %s\n  resource: KIND/NAME # may contain *\n  reason: REASON\n```\n\n", rule.ID())
		fmt.Fprintf(&b, "To suppress all findings for one run: `--ignore %s`.\n\n", rule.ID())
		b.WriteString("To suppress them for all runs, or to change the severity:\n\n")
	}
	fmt.Fprintf(&b, "```yaml\nseverities:\n  %s: \"off\"\n```\n", rule.ID())
	return b.String()
}

// linked returns a link to an address, or to a function of Envoy with its file: "Name::of (source/common/…)".
func linked(link string) string {
	name, file, ok := strings.Cut(strings.TrimSuffix(link, ")"), " (source/")
	if !ok {
		return "<" + link + ">"
	}
	return fmt.Sprintf("[`%s`](https://github.com/envoyproxy/envoy/blob/v%s.0/source/%s)", name, dataplane.Default().Version, file)
}

// Index returns docs/rules/README.md.
func Index(groups []*lint.Group) string {
	var all []*lint.Rule
	for _, g := range groups {
		all = append(all, g.Rules()...)
	}
	return "<!-- Made of the rules by `make update`. -->\n\n# Rules\n\n" +
		"`xdslint explain RULE` shows a shorter form of these pages.\n\n" +
		Table(groups, all, func(r *lint.Rule) string { return r.ID() + ".md" })
}

// Table lists rules by group, in Markdown.
func Table(groups []*lint.Group, rules []*lint.Rule, link func(*lint.Rule) string) string {
	var b strings.Builder
	for _, g := range groups {
		head := fmt.Sprintf("## %s\n\n%s\n\n| rule | severity | finds |\n|---|---|---|\n", g.Name, Sentence(g.Summary))
		for _, r := range rules {
			if r.Group == g.Name {
				name := "`" + r.ID() + "`"
				if to := link(r); to != "" {
					name = fmt.Sprintf("[%s](%s)", name, to)
				}
				fmt.Fprintf(&b, "%s| %s | %s | %s |\n", head, name, Severities(r, ""), strings.ReplaceAll(r.Summary, "|", `\|`))
				head = ""
			}
		}
		if head == "" {
			b.WriteByte('\n')
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Severities returns the severity of a rule without a profile, and those in profiles: "off (edge: warning)". Each is between marks.
func Severities(r *lint.Rule, mark string) string {
	text := mark + r.Severity.String() + mark
	var others []string
	for _, p := range lint.Profiles {
		if severity := r.In(p); severity != r.Severity {
			others = append(others, fmt.Sprintf("%s: %s%s%[2]s", p, mark, severity))
		}
	}
	if len(others) > 0 {
		text += " (" + strings.Join(others, ", ") + ")"
	}
	return text
}

// Sentence turns a summary, which has no capital letter and no full stop, into a sentence.
func Sentence(s string) string {
	if word, _, _ := strings.Cut(s, " "); s == "" || strings.ContainsAny(word, "_.") { // the name of a field
		return s + "."
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
