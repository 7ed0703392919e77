package load

import (
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/tree"
)

// Label marks the ConfigMaps and Secrets whose texts are xDS. They are not read if its value is "false". Without the
// label they are read if a text is plainly xDS.
const Label = "xdslint.dev/check"

// object is one Kubernetes object of a file.
type object struct {
	*graph.Object
	in       *input
	node     *graph.TextNode
	problems []graph.Problem // of the object itself; paths begin at the object
	texts    *loader         // of a ConfigMap or Secret, by their keys
	why      string          // it is not read
}

// groups are the API groups of the objects that hold xDS, by kind.
var groups = map[string]string{
	"ConfigMap": "", "Secret": "", graph.EnvoyFilter: "networking.istio.io", graph.EnvoyPatchPolicy: "gateway.envoyproxy.io",
}

// isObject reports whether a node is a Kubernetes object, by the two keys that each has.
func isObject(n *graph.TextNode) bool {
	version, kind := n.Get("apiVersion"), n.Get("kind")
	return version != nil && version.Kind == tree.String && kind != nil && kind.Kind == tree.String
}

// addObjects records the Kubernetes objects in a document.
func (l *loader) addObjects(in *input, doc *graph.TextNode) {
	if !isObject(doc) {
		return
	}
	kind, items := doc.Get("kind").Text, doc.Get("items")
	single, list := strings.CutSuffix(kind, "List")
	if !list || items == nil || items.Kind != tree.List {
		l.addObject(in, doc, doc.Get("apiVersion").Text, kind)
		return
	}
	for i := range items.Items {
		switch item := &items.Items[i]; {
		case isObject(item):
			l.addObject(in, item, item.Get("apiVersion").Text, item.Get("kind").Text)
		case single != "" && item.Kind == tree.Map: // in a typed list, only the list has the items' kind
			l.addObject(in, item, doc.Get("apiVersion").Text, single)
		}
	}
}

func (l *loader) addObject(in *input, n *graph.TextNode, version, kind string) {
	id := &graph.Object{Kind: kind, Span: n.Span()}
	if metadata := n.Get("metadata"); metadata != nil {
		id.Namespace = textOf(metadata.Get("namespace"))
		if id.Name = textOf(metadata.Get("name")); id.Name == "" {
			id.Name = textOf(metadata.Get("generateName"))
		}
	}
	o := &object{Object: id, in: in, node: n}
	group, _, versioned := strings.Cut(version, "/")
	if !versioned {
		group = ""
	}
	switch known, ok := groups[kind]; {
	case !ok || known != group:
		o.why = fmt.Sprintf("it is a Kubernetes object (%s)", kind)
	case kind == "ConfigMap" || kind == "Secret":
		o.why = l.mount(o)
	}
	if o.why != "" {
		in.others = append(in.others, o)
		return
	}
	in.objects = append(in.objects, o)
}

// find follows keys. It returns nil if one does not exist.
func find(n *graph.TextNode, keys ...string) *graph.TextNode {
	for _, key := range keys {
		if n == nil {
			return nil
		}
		n = n.Get(key)
	}
	return n
}

func textOf(n *graph.TextNode) string {
	if n == nil {
		return ""
	}
	return n.Text
}

// kinds lists the kinds of objects, with counts above one.
func (in *input) kinds(objects []*object) string {
	count := map[string]int{}
	var order []string
	for _, o := range objects {
		if count[o.Kind]++; count[o.Kind] == 1 {
			order = append(order, o.Kind)
		}
	}
	return counted(order, count)
}

// manifest reads the objects of a file into snapshots: one for each bootstrap, one for the other resources, and one for
// each patch, since two patches can be for different proxies.
func (l *loader) manifest(in *input) ([]*graph.Snapshot, error) {
	var all []*graph.Snapshot
	for _, o := range in.objects {
		var more []*graph.Snapshot
		var err error
		switch o.Kind {
		case graph.EnvoyFilter:
			more, err = l.envoyFilter(o)
		case graph.EnvoyPatchPolicy:
			more, err = l.patchPolicy(o)
		default:
			more, err = o.texts.snapshots()
		}
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
		if len(o.problems) > 0 {
			all = append(all, o.broken())
		}
	}
	return all, nil
}

// broken adds the problems of the object itself.
func (o *object) broken() *graph.Snapshot {
	s := &graph.Snapshot{Name: o.String()}
	s.Add(&graph.Resource{Kind: graph.File, Name: o.in.file.Name, File: o.in.file, Text: tree.TextOf(o.node), Problems: o.problems, Object: o.Object})
	return s
}

// wrong adds a problem of the object at a node, or at the object's name if the node is nil.
func (o *object) wrong(at *graph.Path, n *graph.TextNode, format string, args ...any) *graph.Problem {
	p := graph.Problem{Kind: graph.BadObject, Path: at, Node: n, Message: fmt.Sprintf(format, args...)}
	if n == nil {
		if n = find(o.node, "metadata", "name"); n == nil {
			n = o.node
		}
	}
	p.Span = n.Span()
	o.problems = append(o.problems, p)
	return &o.problems[len(o.problems)-1]
}

// list returns the items under keys of the object. A value that is not a list is a problem.
func (o *object) list(keys ...string) []graph.TextNode {
	n := find(o.node, keys...)
	if n == nil || n.Kind == tree.Null {
		return nil
	}
	if n.Kind != tree.List {
		o.wrong(pathOfKeys(keys), n, "%s where a list is expected", n.Kind)
		return nil
	}
	return n.Items
}

func pathOfKeys(keys []string) (at *graph.Path) {
	for _, key := range keys {
		at = at.Field(key)
	}
	return at
}

// oneOf reads a word that must be one of a few. It returns an empty string if it is not.
func (o *object) oneOf(at *graph.Path, in *graph.TextNode, key string, words []string, missing string) string {
	n := in.Get(key)
	word := textOf(n)
	switch {
	case word == "" || word == "INVALID": // the zero value of Istio's enums
		o.wrong(at.Field(key), orElse(n, in), "%s", missing)
		return ""
	case !slices.Contains(words, word):
		o.wrong(at.Field(key), n, "invalid %s %q: must be one of %s", key, word, strings.Join(words, ", "))
		return ""
	}
	return word
}

// patched returns the snapshot of one patch. Nothing else is known about its configuration.
func (l *loader) patched(o *object, p *part) (*graph.Snapshot, error) {
	r := p.resource
	r.Kind, r.Name, r.Object, r.File, r.Text, p.in = graph.Patch, o.String(), o.Object, o.in.file, tree.TextOf(p.node), o.in
	a := l.assemble(o.String())
	a.snapshot.Assumptions = graph.Assumptions{}
	a.parts = []*part{p}
	if err := a.decode(0); err != nil {
		return nil, err
	}
	return a.finish(), nil
}

// shift moves the spans of problems along with their text.
func shift(problems []graph.Problem, to func(graph.Span) graph.Span) {
	for i := range problems {
		problems[i].Span = to(problems[i].Span)
	}
}
