package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/graph"
)

// detail is one field that differs in two messages; nil means that it is not set.
type detail struct {
	path          string
	before, after *string
}

// differ walks two messages side by side, through every Any.
type differ struct {
	from, to held
	cluster  func(string) string // returns the new name of a cluster
	skip     fields
	found    []detail
}

// Fields returns the paths of the fields that differ in two messages, each of which is in a resource. skip has the full names of fields that are not
// compared.
func Fields(from, to *graph.Resource, a, b proto.Message, skip ...string) (all []string) {
	d := differ{from: held{from, a}, to: held{to, b}, cluster: func(name string) string { return name }, skip: fields{}}
	for _, name := range skip {
		d.skip[protoreflect.FullName(name)] = true
	}
	d.messages("", a.ProtoReflect(), b.ProtoReflect())
	for _, one := range d.found {
		all = append(all, one.path)
	}
	return all
}

func (d *differ) note(path string, before, after *string) {
	d.found = append(d.found, detail{path, before, after})
}

func (d *differ) messages(path string, a, b protoreflect.Message) {
	switch {
	case !a.IsValid() && !b.IsValid():
		return
	case a.Descriptor().FullName() != b.Descriptor().FullName():
		d.note(path, text(string(a.Descriptor().Name())), text(string(b.Descriptor().Name())))
		return
	case a.Descriptor().FullName() == "google.protobuf.Any":
		d.anys(path, a, b)
		return
	case whole(a.Descriptor()):
		if before, after := scalarMessage(a), scalarMessage(b); *before != *after || !proto.Equal(a.Interface(), b.Interface()) {
			d.note(path, before, after)
		}
		return
	}
	all := a.Descriptor().Fields()
	for i := range all.Len() {
		fd := all.Get(i)
		other := b.Descriptor().Fields().ByNumber(fd.Number())
		if !d.skip[fd.FullName()] && other != nil {
			d.field(join(path, string(fd.Name())), a, b, fd, other)
		}
	}
	if !bytes.Equal(a.GetUnknown(), b.GetUnknown()) {
		d.note(join(path, "unknown fields"), text(Set), text(Set))
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// whole reports whether a message is compared as one value: if it represents one, or if users choose its structure.
func whole(md protoreflect.MessageDescriptor) bool {
	return md.FullName().Parent() == "google.protobuf" || md.FullName() == "envoy.type.v3.Percent"
}

func (d *differ) anys(path string, a, b protoreflect.Message) {
	old, now := contentOf(d.from, a), contentOf(d.to, b)
	if old != nil && now != nil {
		d.messages(path, old.ProtoReflect(), now.ProtoReflect())
		return
	}
	one, other := typeOf(a), typeOf(b)
	switch {
	case one != other:
		d.note(path, text(one), text(other))
	case old != nil || now != nil || !proto.Equal(a.Interface(), b.Interface()):
		d.note(path, text(Set), text(Set))
	}
}

func contentOf(h held, a protoreflect.Message) proto.Message {
	if h.in == nil {
		return nil
	}
	return h.in.Contents[a.Interface()]
}

func typeOf(a protoreflect.Message) string {
	url := a.Get(a.Descriptor().Fields().ByNumber(1)).String()
	return url[strings.LastIndexAny(url, "/.")+1:]
}

func (d *differ) field(path string, a, b protoreflect.Message, fd, other protoreflect.FieldDescriptor) {
	hasOld, hasNew := a.Has(fd), b.Has(other)
	switch {
	case !hasOld && !hasNew:
	case fd.IsMap() && other.IsMap():
		d.maps(path, a.Get(fd).Map(), b.Get(other).Map(), fd.MapValue())
	case fd.IsList() && other.IsList():
		d.lists(path, a.Get(fd).List(), b.Get(other).List(), fd)
	case hasOld && hasNew:
		d.values(path, a.Get(fd), b.Get(other), fd)
	case d.within(path, a, b, fd, other):
	case hasOld:
		if before, after := d.show(fd, a.Get(fd)), missing(fd); after == nil || *before != *after {
			d.note(path, before, after)
		}
	default:
		if before, after := missing(fd), d.show(fd, b.Get(other)); before == nil || *before != *after {
			d.note(path, before, after)
		}
	}
}

// within describes a message that is added or removed field by field, if there are few fields and it is not one of several alternatives.
func (d *differ) within(path string, a, b protoreflect.Message, fd, other protoreflect.FieldDescriptor) bool {
	if fd.Message() == nil || other.Message() == nil || fd.ContainingOneof() != nil || whole(fd.Message()) {
		return false
	}
	inner := differ{from: d.from, to: d.to, cluster: d.cluster, skip: d.skip}
	inner.messages(path, a.Get(fd).Message(), b.Get(other).Message())
	const few = 3
	if len(inner.found) > few {
		return false
	}
	if len(inner.found) == 0 { // it is empty, or all of its fields are skipped
		return !empty(a.Get(fd).Message()) || !empty(b.Get(other).Message())
	}
	d.found = append(d.found, inner.found...)
	return true
}

func empty(m protoreflect.Message) bool {
	none := len(m.GetUnknown()) == 0
	m.Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool {
		none = false
		return false
	})
	return none
}

// missing returns the default of a field that is not set, if it has one.
func missing(fd protoreflect.FieldDescriptor) *string {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		if !fd.HasPresence() {
			return text("false")
		}
	case protoreflect.EnumKind:
		if !fd.HasPresence() {
			return text(enum(fd, fd.Default().Enum()))
		}
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind, protoreflect.GroupKind:
	default:
		if !fd.HasPresence() {
			return text(fd.Default().String())
		}
	}
	return nil
}

func (d *differ) values(path string, a, b protoreflect.Value, fd protoreflect.FieldDescriptor) {
	if fd.Message() != nil {
		d.messages(path, a.Message(), b.Message())
		return
	}
	if clusterFields[fd.FullName()] {
		if d.cluster(a.String()) == b.String() {
			return
		}
	} else if a.Equal(b) {
		return
	}
	d.note(path, d.show(fd, a), d.show(fd, b))
}

func (d *differ) lists(path string, a, b protoreflect.List, fd protoreflect.FieldDescriptor) {
	if a.Len() != b.Len() {
		d.note(path, d.items(fd, a), d.items(fd, b))
		return
	}
	for i := range a.Len() {
		d.values(fmt.Sprintf("%s[%d]", path, i), a.Get(i), b.Get(i), fd)
	}
}

// items formats a list: nil if it is empty, its values if they can be shown, or else their number.
func (d *differ) items(fd protoreflect.FieldDescriptor, l protoreflect.List) *string {
	if l.Len() == 0 {
		return nil
	}
	var all []string
	for i := range l.Len() {
		one := *d.show(fd, l.Get(i))
		if one == Set {
			return text(map[bool]string{true: "1 entry", false: strconv.Itoa(l.Len()) + " entries"}[l.Len() == 1])
		}
		all = append(all, one)
	}
	return text(list(all))
}

func (d *differ) maps(path string, a, b protoreflect.Map, fd protoreflect.FieldDescriptor) {
	var all []protoreflect.MapKey
	for _, m := range []protoreflect.Map{a, b} {
		m.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
			all = append(all, k)
			return true
		})
	}
	slices.SortFunc(all, func(a, b protoreflect.MapKey) int { return strings.Compare(a.String(), b.String()) })
	all = slices.CompactFunc(all, func(a, b protoreflect.MapKey) bool { return a.String() == b.String() })
	for _, k := range all {
		at := fmt.Sprintf("%s[%q]", path, k.String())
		switch {
		case a.Has(k) && b.Has(k):
			d.values(at, a.Get(k), b.Get(k), fd)
		case a.Has(k):
			d.note(at, d.show(fd, a.Get(k)), nil)
		default:
			d.note(at, nil, d.show(fd, b.Get(k)))
		}
	}
}

// show formats a value that cannot be a secret: a number, a word of the API, the name of a cluster and the like. Any other value is Set.
func (d *differ) show(fd protoreflect.FieldDescriptor, v protoreflect.Value) *string {
	switch fd.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return scalarMessage(v.Message())
	case protoreflect.EnumKind:
		return text(enum(fd, v.Enum()))
	case protoreflect.StringKind:
		if plainTexts[fd.FullName()] || clusterFields[fd.FullName()] {
			return text(v.String())
		}
		return text(Set)
	case protoreflect.BytesKind:
		return text(Set)
	}
	return text(v.String())
}

func enum(fd protoreflect.FieldDescriptor, n protoreflect.EnumNumber) string {
	if value := fd.Enum().Values().ByNumber(n); value != nil {
		return string(value.Name())
	}
	return strconv.Itoa(int(n))
}

// scalarMessage formats a message that represents one number or time.
func scalarMessage(m protoreflect.Message) *string {
	if d, ok := m.Interface().(*durationpb.Duration); ok {
		return text(duration(d))
	}
	switch name := m.Descriptor().FullName(); name {
	case "google.protobuf.BoolValue", "google.protobuf.UInt32Value", "google.protobuf.UInt64Value", "google.protobuf.Int32Value",
		"google.protobuf.Int64Value", "google.protobuf.DoubleValue", "google.protobuf.FloatValue":
		return text(m.Get(m.Descriptor().Fields().ByNumber(1)).String())
	case "envoy.type.v3.Percent":
		return text(m.Get(m.Descriptor().Fields().ByNumber(1)).String() + " %")
	}
	return text(Set)
}

var clusterFields = func() fields {
	all := fields{}
	for _, name := range graph.ClusterFields() {
		all[name] = true
	}
	return all
}()

// plainTexts are fields with texts that people want to read and that are not secrets.
var plainTexts = fields{
	"envoy.config.route.v3.RouteAction.prefix_rewrite":                                                             true,
	"envoy.config.route.v3.RouteAction.host_rewrite_literal":                                                       true,
	"envoy.config.route.v3.RouteAction.host_rewrite_header":                                                        true,
	"envoy.config.route.v3.RouteAction.UpgradeConfig.upgrade_type":                                                 true,
	"envoy.config.core.v3.HealthCheck.HttpHealthCheck.path":                                                        true,
	"envoy.config.core.v3.HealthCheck.HttpHealthCheck.host":                                                        true,
	"envoy.config.core.v3.SocketAddress.address":                                                                   true,
	"envoy.config.cluster.v3.Cluster.alt_stat_name":                                                                true,
	"envoy.config.core.v3.TypedExtensionConfig.name":                                                               true,
	"envoy.config.core.v3.TransportSocket.name":                                                                    true,
	"envoy.extensions.transport_sockets.tls.v3.TlsParameters.cipher_suites":                                        true,
	"envoy.extensions.transport_sockets.tls.v3.TlsParameters.ecdh_curves":                                          true,
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.stat_prefix":                true,
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.server_name":                true,
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.UpgradeConfig.upgrade_type": true,
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.stat_prefix":                                           true,
}

func text(s string) *string { return &s }
