package drawing

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/xdslint/xdslint/graph"
)

// label returns the name of the field that holds the reference.
func (l *Line) label() string {
	path := l.Edge.Path.Name()
	if path == "" {
		return string(l.Edge.Field.Name())
	}
	return path
}

// label returns what a node shows below its kind. A bootstrap without a node id shows its file.
func (n *Node) label() string {
	if n.Name == "" && n.Resource != nil {
		return n.Resource.File.Name
	}
	return n.Name
}

// Dot writes the drawing for Graphviz.
func (d *Drawing) Dot(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "digraph xds {\n  rankdir=LR\n  node [shape=box, fontname=\"sans-serif\"]\n  edge [fontname=\"sans-serif\", fontsize=10]")
	for _, n := range d.Nodes {
		style := ""
		switch {
		case n.Missing && n.World == graph.Open:
			style = ", style=dashed"
		case n.Missing:
			style = ", style=dashed, color=red, fontcolor=red"
		case n.Inside:
			style = ", style=rounded"
		}
		fmt.Fprintf(out, "  %s [label=%s%s]\n", quoteDot(n.ID), quoteDot(string(n.Kind)+"\n"+n.label()), style)
	}
	for _, l := range d.Edges {
		fmt.Fprintf(out, "  %s -> %s [label=%s]\n", quoteDot(l.From.ID), quoteDot(l.To.ID), quoteDot(l.label()))
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// quoteDot quotes for DOT, where only the quote and the backslash are special. What a terminal could read as a command,
// or show in another order, is written as its code.
func quoteDot(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case unprintable(r):
			fmt.Fprintf(&b, `\\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func unprintable(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// Mermaid writes the drawing as a flowchart for Markdown.
func (d *Drawing) Mermaid(w io.Writer) error {
	out := bufio.NewWriter(w)
	ids := map[*Node]int{}
	fmt.Fprintln(out, "flowchart LR")
	missing, open := false, false
	for i, n := range d.Nodes {
		ids[n] = i
		left, right, class := "[", "]", ""
		switch {
		case n.Missing && n.World == graph.Open:
			class, open = ":::open", true
		case n.Missing:
			class, missing = ":::missing", true
		case n.Inside:
			left, right = "(", ")"
		}
		fmt.Fprintf(out, "  n%d%s\"%s<br>%s\"%s%s\n", i, left, quoteMermaid(string(n.Kind)), quoteMermaid(n.label()), right, class)
	}
	for _, l := range d.Edges {
		fmt.Fprintf(out, "  n%d -->|\"%s\"| n%d\n", ids[l.From], quoteMermaid(l.label()), ids[l.To])
	}
	if missing {
		fmt.Fprintln(out, "  classDef missing stroke:red,color:red,stroke-dasharray:4")
	}
	if open {
		fmt.Fprintln(out, "  classDef open stroke-dasharray:4")
	}
	return out.Flush()
}

// quoteMermaid writes characters that are special to Mermaid or HTML as character codes.
func quoteMermaid(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("\"#&<>;`\\|[]{}()", r), unprintable(r):
			fmt.Fprintf(&b, "#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

type (
	// Shape is the JSON form of a drawing.
	Shape struct {
		Nodes []nodeJSON `json:"nodes"`
		Edges []lineJSON `json:"edges"`
	}
	nodeJSON struct {
		ID       string       `json:"id"`
		Kind     graph.Kind   `json:"kind"`
		Name     string       `json:"name"`
		Snapshot string       `json:"snapshot"`
		State    string       `json:"state"` // present, inside, missing, presumed (probably missing), open (not given)
		Source   graph.Source `json:"source"`
		Location *placeJSON   `json:"location"`
	}
	lineJSON struct {
		From     string     `json:"from"`
		To       string     `json:"to"`
		Field    string     `json:"field"`
		Location *placeJSON `json:"location"`
	}
	placeJSON struct {
		File  string     `json:"file"`
		Start *pointJSON `json:"start,omitempty"`
		End   *pointJSON `json:"end,omitempty"`
	}
	pointJSON struct {
		Line   int `json:"line"`
		Column int `json:"column"`
		Offset int `json:"offset"`
	}
)

// Shape returns what JSON writes: the drawing's nodes and edges, with their places.
func (d *Drawing) Shape() Shape {
	out := Shape{Nodes: []nodeJSON{}, Edges: []lineJSON{}}
	for _, n := range d.Nodes {
		node := nodeJSON{ID: n.ID, Kind: n.Kind, Name: n.Name, Snapshot: n.Snapshot, State: n.state(), Location: placeOf(n.place())}
		if n.Resource != nil {
			node.Source = n.Resource.Source
		}
		out.Nodes = append(out.Nodes, node)
	}
	for _, l := range d.Edges {
		out.Edges = append(out.Edges, lineJSON{l.From.ID, l.To.ID, l.Edge.Path.String(), placeOf(l.place())})
	}
	return out
}

// JSON writes the drawing for programs.
func (d *Drawing) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(d.Shape())
}

func (n *Node) state() string {
	switch {
	case n.Inside:
		return "inside"
	case !n.Missing:
		return "present"
	}
	return [...]string{graph.Open: "open", graph.Presumed: "presumed", graph.Closed: "missing"}[n.World]
}

func placeOf(f *graph.SourceFile, span graph.Span) *placeJSON {
	if f == nil {
		return nil
	}
	if f.Text == nil || span.IsZero() {
		return &placeJSON{File: f.Name}
	}
	start, end := pointJSON(f.Position(span.Start)), pointJSON(f.Position(span.End))
	return &placeJSON{f.Name, &start, &end}
}
