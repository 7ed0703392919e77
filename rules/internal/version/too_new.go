package version

import (
	"fmt"
	"strings"
	"sync"

	"github.com/envoyproxy/protoc-gen-validate/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:      "too-new",
	Severity:  lint.Error,
	Fragments: true,
	Summary:   "a field or enum value that the target's version does not have yet",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api/api_supported_versions",
		"MessageUtil::checkForUnexpectedFields (source/common/protobuf/utility.cc)",
	},
	Run: lint.EachMatching(func(t dataplane.Target, md protoreflect.MessageDescriptor) bool {
		return t != dataplane.Default() && !t.Lacks(md.FullName()) && len(newFields(t, md)) > 0 // schema/bad-type-url reports missing types
	}, tooNew),
})

func tooNew(p *lint.Pass, at lint.At, m protoreflect.Message) {
	for _, fd := range newFields(p.Target, m.Descriptor()) {
		if !m.Has(fd) {
			continue
		}
		where := at.Field(string(fd.Name()))
		if p.Target.Lacks(fd.FullName()) {
			reportTooNew(p, at, where.Key(), fd.FullName(), fmt.Sprintf("%s does not have %s.%s yet", p.Target, short(m.Descriptor()), fd.Name()),
				fmt.Sprintf("no such field: '%s'", fd.Name()), false)
			continue
		}
		for _, v := range values(fd, m.Get(fd)) {
			if full := valueName(v); p.Target.Lacks(full) {
				reportTooNew(p, at, where, full, fmt.Sprintf("%s does not have the value %s of %s yet", p.Target, v.Name(), short(fd.Enum())), fmt.Sprintf("unknown enum value: '%s'", v.Name()), definedOnly(fd))
			}
		}
	}
}

func reportTooNew(p *lint.Pass, at, where lint.At, name protoreflect.FullName, message, upstream string, rejected bool) {
	r := at.Resource()
	booted := r.Delivery == graph.FromBootstrap
	if validated, _ := envoy.Validated(p.Target.Extensions(), at.Place); !validated && (!booted || r.Text == nil) {
		return // a text is decoded as a whole, even the parts that Envoy does not read
	}
	d := lint.Diagnostic{Message: message, Help: "remove it until every Envoy runs a version that has it"}
	if since := p.Target.Since(func(t dataplane.Target) bool { return !t.Lacks(name) }); since != "" {
		d.Notes = []string{fmt.Sprintf("%s has it since %s", p.Target.Actor(), since)}
	}
	if booted || rejected {
		d.Notes = append(d.Notes, envoy.OnReject(r))
		d.Rejected, d.Upstream = true, upstream
	} else {
		d.Severity = lint.Warning
		d.Notes = append(d.Notes, "over xDS, Envoy silently drops it")
	}
	p.Report(where, d)
}

// definedOnly reports whether the API demands a declared value in an enum field, which an unknown number violates.
func definedOnly(fd protoreflect.FieldDescriptor) bool {
	rules, _ := proto.GetExtension(fd.Options(), validate.E_Rules).(*validate.FieldRules)
	return rules.GetEnum().GetDefinedOnly() || rules.GetRepeated().GetItems().GetEnum().GetDefinedOnly()
}

// short returns the name of a message or enum without its package.
func short(d protoreflect.Descriptor) string {
	return strings.TrimPrefix(string(d.FullName()), string(d.ParentFile().Package())+".")
}

// values returns the declared enum values in a field.
func values(fd protoreflect.FieldDescriptor, v protoreflect.Value) (all []protoreflect.EnumValueDescriptor) {
	add := func(n protoreflect.EnumNumber) {
		if d := fd.Enum().Values().ByNumber(n); d != nil {
			all = append(all, d)
		}
	}
	switch {
	case fd.Enum() == nil || fd.IsMap():
	case fd.IsList():
		for i := range v.List().Len() {
			add(v.List().Get(i).Enum())
		}
	default:
		add(v.Enum())
	}
	return all
}

// valueName returns the name of an enum value in dataplane.Target's lists.
func valueName(v protoreflect.EnumValueDescriptor) protoreflect.FullName {
	return v.Parent().FullName().Append(v.Name())
}

type versioned struct {
	target dataplane.Target
	md     protoreflect.MessageDescriptor
}

var newer sync.Map // versioned → []protoreflect.FieldDescriptor

// newFields returns the fields of a message type that a target lacks, or that have values that it lacks.
func newFields(t dataplane.Target, md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	key := versioned{t, md}
	if known, ok := newer.Load(key); ok {
		return known.([]protoreflect.FieldDescriptor)
	}
	fields := []protoreflect.FieldDescriptor{}
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		lacks := t.Lacks(fd.FullName())
		if ed := fd.Enum(); ed != nil {
			for j := range ed.Values().Len() {
				lacks = lacks || t.Lacks(valueName(ed.Values().Get(j)))
			}
		}
		if lacks {
			fields = append(fields, fd)
		}
	}
	newer.Store(key, fields)
	return fields
}
