package load

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/tree"
)

// patchable are the resources that Envoy Gateway patches (getXdsResourceType of its internal/xds/translator/jsonpatch.go).
var patchable = []string{
	"type.googleapis.com/envoy.config.listener.v3.Listener",
	"type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
	"type.googleapis.com/envoy.config.cluster.v3.Cluster",
	"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
	"type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
}

var patchOperations = []string{"add", "remove", "replace", "move", "copy", "test"}

// patchPolicy reads the JSON patches of Envoy Gateway's EnvoyPatchPolicy (gateway.envoyproxy.io/v1alpha1).
func (l *loader) patchPolicy(o *object) ([]*graph.Snapshot, error) {
	var all []*graph.Snapshot
	items := o.list("spec", "jsonPatches")
	for i := range items {
		for _, p := range l.jsonPatch(o, pathOfKeys([]string{"spec"}).Item("jsonPatches", i), &items[i]) {
			s, err := l.patched(o, p)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// jsonPatch reads one patch into a part for each message in its value.
func (l *loader) jsonPatch(o *object, at *graph.Path, n *graph.TextNode) []*part {
	if n.Kind != tree.Map {
		o.wrong(at, n, "%s where a patch is expected: type, name and operation", n.Kind)
		return nil
	}
	url := o.oneOf(at, n, "type", patchable, "there is no type, which says which kind of resource is patched")
	if textOf(n.Get("name")) == "" {
		o.wrong(at.Field("name"), orElse(n.Get("name"), n), "there is no name, which says which resource is patched")
	}
	body := n.Get("operation")
	if body == nil || body.Kind != tree.Map {
		o.wrong(at.Field("operation"), orElse(body, n), "there is no operation, with op, path and value")
		return nil
	}
	at = at.Field("operation")
	op := o.oneOf(at, body, "op", patchOperations, "there is no op, which says what is done at the path")
	if url == "" || op == "" || !o.fits(at, body, op) {
		return nil
	}
	mt, err := l.types.FindMessageByName(decode.TypeName(url))
	if err != nil {
		return nil
	}
	spot, ok := l.pointed(o, at, body, op, mt.Descriptor())
	value := body.Get("value")
	if !ok || value == nil || op != "add" && op != "replace" {
		return nil
	}
	v := &patchValue{l, o}
	return v.parts(at, "value", value, spot)
}

// fits reports whether an operation has exactly the keys that it needs (JSONPatchOperation.Validate of Envoy Gateway's internal/ir).
func (o *object) fits(at *graph.Path, n *graph.TextNode, op string) bool {
	before := len(o.problems)
	if n.Get("path") == nil && n.Get("jsonPath") == nil {
		o.wrong(at.Field("path"), n, "there is no path and no jsonPath")
	}
	needs := map[string][]string{"add": {"value"}, "replace": {"value"}, "test": {"value"}, "move": {"from"}, "copy": {"from"}}[op]
	for _, key := range []string{"from", "value"} {
		switch given := n.Get(key); {
		case given == nil && slices.Contains(needs, key):
			o.wrong(at.Field(key), n, "the operation %s needs a %s", op, key)
		case given != nil && !slices.Contains(needs, key):
			o.wrong(at.Field(key), given, "the operation %s cannot have a %s", op, key)
		}
	}
	return len(o.problems) == before
}

// pointed follows the pointers of an operation. A jsonPath is evaluated on the resource, which is not known here.
func (l *loader) pointed(o *object, at *graph.Path, n *graph.TextNode, op string, root protoreflect.MessageDescriptor) (spot, bool) {
	if query := n.Get("jsonPath"); query != nil && query.Text != "" {
		return spot{unknown: true}, true
	}
	path := n.Get("path")
	to, fault := pointer{l.types, op != "add" && op != "move" && op != "copy"}.follow(root, textOf(path))
	if fault != "" {
		o.wrong(at.Field("path"), path, "%s", fault)
		return to, false
	}
	if from := n.Get("from"); from != nil {
		if _, fault := (pointer{l.types, true}).follow(root, from.Text); fault != "" {
			o.wrong(at.Field("from"), from, "%s", fault)
		}
	}
	return to, true
}

// patchValue reads the value of a patch into parts.
type patchValue struct {
	*loader
	o *object
}

// parts reads the value under a key, for the spot that the patch's path leads to.
func (v *patchValue) parts(at *graph.Path, key string, n *graph.TextNode, s spot) []*part {
	here := at.Field(key)
	several := s.field != nil && !s.inner && (s.field.IsList() || s.field.IsMap())
	switch {
	case s.unknown:
		return v.anys(here, n)
	case several && s.field.IsList() && isMessage(s.field.Message()) && n.Kind == tree.List:
		var all []*part
		for i := range n.Items {
			all = append(all, v.message(at.Item(key, i), &n.Items[i], s.field.Message(), s.field))
		}
		return all
	case several && s.field.IsMap() && isMessage(s.field.MapValue().Message()) && n.Kind == tree.Map:
		var all []*part
		for i := range n.Items {
			all = append(all, v.message(at.Entry(key, n.Keys[i].Name), &n.Items[i], s.field.MapValue().Message(), s.field))
		}
		return all
	case !several && isMessage(s.message):
		return []*part{v.message(here, n, s.message, s.field)}
	}
	return []*part{v.value(here, n, s)}
}

// isMessage reports whether a value is a message that can be judged by itself: not a scalar, and not written like one
// in JSON. An Any is a message.
func isMessage(md protoreflect.MessageDescriptor) bool {
	return md != nil && (md.FullName() == "google.protobuf.Any" || !decode.HasOwnJSON(md.FullName()))
}

// message returns the part of a whole message.
func (v *patchValue) message(at *graph.Path, n *graph.TextNode, md protoreflect.MessageDescriptor, into protoreflect.FieldDescriptor) *part {
	p := &part{node: n, format: decode.ProtoJSON, resource: &graph.Resource{Within: at}}
	if into != nil {
		p.resource.Into = into.FullName()
	}
	p.message, _ = v.types.FindMessageByName(md.FullName())
	return p
}

// value returns the part of any other patch: one field of a message of which nothing else is known.
func (v *patchValue) value(at *graph.Path, n *graph.TextNode, s spot) *part {
	field := string(s.field.Name())
	around := (*graph.Path)(nil).Field(field)
	switch {
	case s.inner && s.field.IsList():
		around, n = (*graph.Path)(nil).Item(field, 0), &graph.TextNode{Kind: tree.List, Bound: true, Items: []graph.TextNode{*n}}
	case s.inner:
		around, n = (*graph.Path)(nil).Entry(field, s.key), n.Wrap(s.key)
	}
	p := v.message(at, n.Wrap(field), s.field.ContainingMessage(), nil)
	p.resource.Around, p.resource.Fragment = around, true
	return p
}

// anys returns the parts of the messages with an "@type" in a value whose target is not known.
func (v *patchValue) anys(here *graph.Path, n *graph.TextNode) []*part {
	var all []*part
	switch {
	case n.Kind == tree.Map && n.Get("@type") != nil:
		mt, _ := v.types.FindMessageByName("google.protobuf.Any")
		return []*part{v.message(here, n, mt.Descriptor(), nil)}
	case n.Kind == tree.Map:
		for i := range n.Items {
			all = append(all, v.anys(here.Field(n.Keys[i].Name), &n.Items[i])...)
		}
	case n.Kind == tree.List:
		for i := range n.Items {
			all = append(all, v.anys(here.Parent().Item(here.Name(), i), &n.Items[i])...)
		}
	}
	return all
}
