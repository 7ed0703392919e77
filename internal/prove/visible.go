package prove

import (
	"strings"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/ascii"
	"github.com/xdslint/xdslint/internal/walk"
)

// visible is which names requests can see: format strings and expressions show them, and filters that are not modelled may read them.
type visible struct {
	names map[string]bool // of the attributes
	any   bool            // all of them
	calls bool            // filters can choose a cluster by any name
}

// The attributes that show names: a format string has them in capital letters, an expression of CEL in small ones.
const (
	routeName   = "route_name"
	hostName    = "virtual_host_name"
	chainName   = "filter_chain_name"
	clusterName = "cluster_name"
	nodeName    = "xds.node"
)

var attributes = map[string][]string{
	routeName: {"route_name"}, hostName: {"virtual_host_name"}, chainName: {"filter_chain_name"}, clusterName: {"cluster_name", "upstream_cluster"}, nodeName: {"xds.node"},
}

// blind are the HTTP filters that do not see these names, although walks do not model them.
var blind = map[string]bool{"api_key_auth": true, "ext_authz": true, "oauth2": true, "ratelimit": true}

// visibleIn returns what some part of a configuration can see.
func visibleIn(v graph.View, w *walk.Walker) *visible {
	seen := &visible{names: map[string]bool{}}
	for _, r := range v.All() {
		r.Walk(func(p *graph.Place) {
			if p.Enclosing(accessLog) == nil {
				seen.place(p, w)
			}
		})
	}
	return seen
}

var accessLog = (&accesslogv3.AccessLog{}).ProtoReflect().Descriptor().FullName()

// place notes what a message can see.
func (s *visible) place(p *graph.Place, w *walk.Walker) {
	switch m := p.Message.Interface().(type) {
	case *hcmv3.HttpFilter:
		f := envoy.HTTPFilterOf(p.At(), m)
		if !w.Models(f) && !blind[f.Kind] {
			s.any = true
		}
	case *hcmv3.HttpConnectionManager:
		s.names[nodeName] = s.names[nodeName] || m.GetAddUserAgent().GetValue()
	case *corev3.SubstitutionFormatString:
		s.any = s.any || m.GetTextFormatSource().GetFilename() != ""
	case *routev3.RouteAction:
		s.calls = s.calls || m.GetClusterHeader() != ""
	}
	if p.Opaque {
		s.any, s.calls = true, true
	}
	s.kind(string(p.Message.Descriptor().FullName()))
	if p.Message.Descriptor().FullName() != "google.protobuf.Any" {
		p.Message.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			s.field(fd, v)
			return true
		})
	}
}

// programs are the packages of extensions that run programs: these can read all names, and call clusters.
var programs = []string{".lua.", ".wasm.", ".golang.", ".dynamic_modules.", ".ext_proc.", ".sni_cluster.", ".sni_dynamic_forward_proxy."}

// kind notes what messages of a type can see.
func (s *visible) kind(name string) {
	for _, program := range programs {
		if strings.Contains(name, program) {
			s.any, s.calls = true, true
		}
	}
	if strings.Contains(name, ".internal_redirect.") { // predicates that compare the names of routes
		s.names[routeName] = true
	}
}

// field notes the attributes in a field.
func (s *visible) field(fd protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch {
	case fd.IsMap():
		v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
			s.value(fd.MapValue(), v)
			return true
		})
	case fd.IsList():
		for i := range v.List().Len() {
			s.value(fd, v.List().Get(i))
		}
	default:
		s.value(fd, v)
	}
}

func (s *visible) value(fd protoreflect.FieldDescriptor, v protoreflect.Value) {
	var text string
	switch fd.Kind() {
	case protoreflect.StringKind:
		text = ascii.Lower(v.String())
	case protoreflect.BytesKind:
		text = ascii.Lower(string(v.Bytes()))
	default:
		return
	}
	for name, spellings := range attributes {
		for _, spelling := range spellings {
			s.names[name] = s.names[name] || strings.Contains(text, spelling)
		}
	}
	s.calls = s.calls || strings.Contains(text, "envoy.tcp_proxy.cluster") // filter state that chooses the cluster of a TCP connection
}

// sees reports whether something on one of the sides can see a name.
func (p *prover) sees(attribute string) bool { return p.old.sees(attribute) || p.now.sees(attribute) }

func (s *side) sees(attribute string) bool { return s.visible.any || s.visible.names[attribute] }

// without returns the fields of a message but for some, by their full names.
func without(m proto.Message, names ...protoreflect.Name) (others []string) {
	fields := m.ProtoReflect().Descriptor().Fields()
	keep := map[protoreflect.Name]bool{}
	for _, name := range names {
		keep[name] = true
	}
	for i := range fields.Len() {
		if !keep[fields.Get(i).Name()] {
			others = append(others, string(fields.Get(i).FullName()))
		}
	}
	return others
}
