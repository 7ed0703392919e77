package difftest

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/tree"
)

// Kind is the kind of the mutated resource.
type Kind string

// Kinds are what is mutated; each gets the same share of cases. The bootstrap is what is outside of its resources.
var Kinds = []Kind{"routes", "listeners", "clusters", "endpoints", bootstrap}

const bootstrap Kind = "bootstrap"

var kindOf = map[protoreflect.FullName]Kind{
	"envoy.config.bootstrap.v3.Bootstrap":            bootstrap,
	"envoy.config.route.v3.RouteConfiguration":       "routes",
	"envoy.config.listener.v3.Listener":              "listeners",
	"envoy.config.cluster.v3.Cluster":                "clusters",
	"envoy.config.endpoint.v3.ClusterLoadAssignment": "endpoints",
}

// place is a message in a tree.
type place struct {
	kind   Kind // of the innermost resource around
	at     *value
	md     protoreflect.MessageDescriptor
	isAny  bool   // at holds the "@type" of the message as well
	holder string // the last two fields on the way here: they determine which extensions fit
}

// places lists the messages of a bootstrap, outer ones first.
func places(root *value) (all []place) {
	walk(place{at: root, md: (*bootstrapv3.Bootstrap)(nil).ProtoReflect().Descriptor()}, func(p place) { all = append(all, p) })
	return all
}

const anyName protoreflect.FullName = "google.protobuf.Any"

func walk(p place, visit func(place)) {
	if p.at.kind != tree.Map {
		return
	}
	if p.md.FullName() == anyName {
		p = opened(p)
	}
	if p.md == nil || isValue(p.md) {
		return
	}
	if kind, ok := kindOf[p.md.FullName()]; ok {
		p.kind = kind
	}
	visit(p)
	for i, key := range p.at.keys {
		fd := decode.FieldNamed(p.md.Fields(), key)
		if fd == nil || p.isAny && key == "@type" {
			continue
		}
		for _, inner := range messagesIn(fd, p.at.items[i]) {
			inner.kind, inner.holder = p.kind, lastOf(p.holder)+" "+string(fd.FullName())
			walk(inner, visit)
		}
	}
}

func lastOf(holder string) string { return holder[strings.LastIndexByte(holder, ' ')+1:] }

// opened returns the place of an Any's content. It has no descriptor if the type is not known.
func opened(p place) place {
	p.md, p.isAny = nil, true
	if url := p.at.get("@type"); url != nil {
		p.md = typeOf(url.text)
	}
	return p
}

// typeOf returns the message type that a type URL names, or nil if there is none.
func typeOf(url string) protoreflect.MessageDescriptor {
	mt, err := types.Envoy.FindMessageByName(decode.TypeName(url))
	if err != nil {
		return nil
	}
	return mt.Descriptor()
}

// messagesIn lists the messages in a field: one, or those of a list or map.
func messagesIn(fd protoreflect.FieldDescriptor, v *value) (found []place) {
	md, values := fd.Message(), []*value{v}
	switch {
	case md == nil:
		return nil
	case fd.IsMap():
		md, values = fd.MapValue().Message(), v.items
	case fd.IsList():
		values = v.items
	}
	for _, item := range values {
		if md != nil {
			found = append(found, place{at: item, md: md})
		}
	}
	return found
}

// isValue reports whether a message is a single value in text, or does not have fields.
func isValue(md protoreflect.MessageDescriptor) bool {
	return md.FullName().Parent() == "google.protobuf" && md.FullName() != anyName
}
