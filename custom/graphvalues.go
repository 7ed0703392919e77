package custom

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	celtypes "cel.dev/cel-go/common/types"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
)

// The types that are not messages. Each kind of resource has its own type, since its message does; xdslint.resource is for a kind that is not known.
const (
	resourcePrefix = "xdslint.resource"
	referenceName  = "xdslint.reference"
	snapshotName   = "xdslint.snapshot"
)

var (
	referenceType = cel.ObjectType(referenceName)
	snapshotType  = cel.ObjectType(snapshotName)
)

func resourceType(kind graph.Kind) *cel.Type {
	if kind == "" {
		return cel.ObjectType(resourcePrefix)
	}
	return cel.ObjectType(resourcePrefix + "." + string(kind))
}

func isGraphType(name string) bool {
	return name == resourcePrefix || name == referenceName || name == snapshotName || strings.HasPrefix(name, resourcePrefix+".")
}

// attribute is a field of a type that is not a message.
type attribute struct {
	name string
	typ  *cel.Type
	get  func(v any) any // nil: not there
}

var resourceAttributes = []attribute{
	{"kind", cel.StringType, func(v any) any { return string(v.(resource).r.Kind) }},
	{"name", cel.StringType, func(v any) any { return v.(resource).r.Name }},
	{"file", cel.StringType, func(v any) any { return v.(resource).r.File.Name }},
	{"message", cel.DynType, func(v any) any {
		if r := v.(resource).r; r.Message != nil {
			return contained{r.Message, r.Contents}
		}
		return nil
	}},
	{"references", cel.ListType(referenceType), func(v any) any { r := v.(resource); return references{r.in.From(r.r), r.in} }},
	{"referrers", cel.ListType(referenceType), func(v any) any { r := v.(resource); return references{r.in.To(r.r), r.in} }},
}

var referenceAttributes = []attribute{
	{"from", resourceType(""), func(v any) any { return resource{v.(reference).e.From, v.(reference).in} }},
	{"to", resourceType(""), func(v any) any {
		if to := v.(reference).e.To; to != nil {
			return resource{to, v.(reference).in}
		}
		return nil
	}},
	{"kind", cel.StringType, func(v any) any { return string(v.(reference).e.Kind) }},
	{"name", cel.StringType, func(v any) any { return v.(reference).e.Target }},
	{"path", cel.StringType, func(v any) any { return v.(reference).e.Path.String() }},
	{"holder", cel.DynType, func(v any) any {
		e := v.(reference).e
		return contained{e.Place.Message.Interface(), e.From.Contents}
	}},
}

var snapshotAttributes = []attribute{
	{"resources", cel.ListType(resourceType("")), func(v any) any { return v.(snapshot).resources() }},
	{"references", cel.ListType(referenceType), func(v any) any { s := v.(snapshot).s; return references{s.References(), s} }},
}

// attributes returns the attributes of a type.
func attributes(name string) []attribute {
	switch name {
	case referenceName:
		return referenceAttributes
	case snapshotName:
		return snapshotAttributes
	}
	return resourceAttributes
}

func graphFieldNames(name string) (names []string) {
	for _, a := range attributes(name) {
		names = append(names, a.name)
	}
	return names
}

func graphFieldType(name, field string) (*celtypes.FieldType, bool) {
	for _, a := range attributes(name) {
		if a.name != field {
			continue
		}
		typ := a.typ
		if kind, ok := strings.CutPrefix(name, resourcePrefix+"."); ok && field == "message" {
			typ = objectType(decode.TypeName(graph.TypeURL(graph.Kind(kind))))
			if graph.Kind(kind) == graph.Bootstrap {
				typ = objectType("envoy.config.bootstrap.v3.Bootstrap")
			}
		}
		return &celtypes.FieldType{
			Type:    typ,
			IsSet:   func(target any) bool { return a.get(target) != nil },
			GetFrom: func(target any) (any, error) { return attributeOf(target, name, field) },
		}, true
	}
	return nil, false
}

func attributeOf(v any, typ, field string) (any, error) {
	for _, a := range attributes(typ) {
		if a.name == field {
			if found := a.get(v); found != nil {
				return found, nil
			}
			return nil, fmt.Errorf("there is no %s here", field)
		}
	}
	return nil, fmt.Errorf("%s", noField(typ, field, graphFieldNames(typ)))
}

// resource is a resource in CEL.
type resource struct {
	r  *graph.Resource
	in graph.View
}

// reference is a field that names a resource, in CEL.
type reference struct {
	e  *graph.Edge
	in graph.View
}

// snapshot has everything that is judged together, in CEL.
type snapshot struct{ s graph.View }

// references is the list of a snapshot's references in CEL. The list can be long, and expressions ask for it with each message.
type references struct {
	edges []*graph.Edge
	in    graph.View
}

// resources is the list of a snapshot's resources in CEL, which can be as long.
type resources struct {
	all []*graph.Resource
	in  graph.View
}

// resources returns the resources that were decoded.
func (s snapshot) resources() resources { return resources{s.s.Decoded(), s.s} }

// find returns a list with the resource that a name refers to. It is empty if there is none.
func (s snapshot) find(kind graph.Kind, name string) resources {
	found := resources{in: s.s}
	if r := s.s.Find(kind, graph.Anywhere, name); r != nil && r.Message != nil {
		found.all = []*graph.Resource{r}
	}
	return found
}

// reaches lists the resources of a kind that a resource leads to, over any number of references. It also returns how many references it followed.
func (r resource) reaches(kind graph.Kind) (found resources, looked int) {
	return r.follow(kind, r.in.From, func(e *graph.Edge) *graph.Resource { return e.To })
}

// reachedBy lists the resources of a kind that lead to a resource.
func (r resource) reachedBy(kind graph.Kind) (found resources, looked int) {
	return r.follow(kind, r.in.To, func(e *graph.Edge) *graph.Resource { return e.From })
}

func (r resource) follow(
	kind graph.Kind, edges func(*graph.Resource) []*graph.Edge, end func(*graph.Edge) *graph.Resource,
) (found resources, looked int) {
	found.in = r.in
	seen := map[*graph.Resource]bool{r.r: true}
	for next := []*graph.Resource{r.r}; len(next) > 0; next = next[1:] {
		for _, e := range edges(next[0]) {
			looked++
			to := end(e)
			if to == nil || seen[to] {
				continue
			}
			seen[to] = true
			next = append(next, to)
			if to.Kind == kind {
				found.all = append(found.all, to)
			}
		}
	}
	return found, looked
}
