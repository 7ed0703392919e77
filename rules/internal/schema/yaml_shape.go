package schema

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:      "yaml-shape",
	Severity:  lint.Error,
	Fragments: true,
	Summary:   "a duplicate key in a map, or a list item that is split in two",
	Links:     []string{"https://github.com/envoyproxy/envoy/issues/3384"},
	Run:       lint.EachMatching(func(_ dataplane.Target, md protoreflect.MessageDescriptor) bool { return len(extensionLists(md)) > 0 }, splitItems).And(lint.EachProblem(duplicateKey, graph.DuplicateKey)),
})

func duplicateKey(p *lint.Pass, r *graph.Resource, problem graph.Problem) {
	d := lint.Diagnostic{
		Message: fmt.Sprintf("the key %q is repeated further down in the same map", problem.Name),
		Notes:   []string{p.Target.Actor() + " uses the last one and silently drops this one"},
		Help:    "merge the two, or delete one",
	}
	switch {
	case !problem.Lenient:
		d.Rejected, d.Upstream = true, "got unexpectedly-repeated repeated map key"
		d.Notes = []string{p.OnReject(r)}
	case r.Kind == graph.Patch:
		d.Notes = []string{"Kubernetes keeps the last one and silently drops this one"}
	case problem.Node.Kind == tree.Null: // nothing is lost
		d.Severity = lint.Warning
	case strings.EqualFold(filepath.Ext(r.File.Name), ".json"):
		d.Notes = []string{p.Target.Actor() + " merges the two: it joins lists, and of single values it uses the last one"}
	}
	p.ReportProblem(r, problem, d)
}

// splitItems reports a list item that has everything but a name, after one that has only a name.
func splitItems(p *lint.Pass, at lint.At, m protoreflect.Message) {
	for _, fd := range extensionLists(m.Descriptor()) {
		if !m.Has(fd) || at.Resource().Text == nil {
			continue
		}
		name, config := fd.Message().Fields().ByName("name"), fd.Message().Fields().ByName("typed_config")
		list := m.Get(fd).List()
		for i := 1; i < list.Len(); i++ {
			head, tail := list.Get(i-1).Message(), list.Get(i).Message()
			if head.Has(name) && !head.Has(config) && !tail.Has(name) && tail.Has(config) {
				item := at.Item(string(fd.Name()), i)
				p.Report(item, lint.Diagnostic{
					Message: fmt.Sprintf("this item has no name, and the one before it has only the name %q", head.Get(name).String()),
					Help:    "remove the extra dash before typed_config",
					Fixes:   lint.Join(item).Likely("remove the dash"),
				})
			}
		}
	}
}

var listFields sync.Map // protoreflect.MessageDescriptor → []protoreflect.FieldDescriptor

// extensionLists returns the lists of a message whose items have a name and a typed_config.
func extensionLists(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if known, ok := listFields.Load(md); ok {
		return known.([]protoreflect.FieldDescriptor)
	}
	fields := []protoreflect.FieldDescriptor{}
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		if fd.IsList() && fd.Message() != nil && fd.Message().Fields().ByName("name") != nil && fd.Message().Fields().ByName("typed_config") != nil {
			fields = append(fields, fd)
		}
	}
	listFields.Store(md, fields)
	return fields
}
