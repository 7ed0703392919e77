package grpc

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	udpav1 "github.com/cncf/xds/go/udpa/type/v1"
	xdsv3 "github.com/cncf/xds/go/xds/type/v3"

	"github.com/xdslint/xdslint/graph"
)

// The categories of the extensions in dataplane/builds. After a colon follows the variable that switches an extension on.
const (
	clientFilters    = "grpc.http_filter.client"
	serverFilters    = "grpc.http_filter.server"
	policies         = "grpc.lb_policy"
	plugins          = "grpc.cluster_specifier"
	auditLoggers     = "grpc.audit_logger"
	channelCreds     = "grpc.channel_credentials"
	certificatePlugs = "grpc.certificate_provider"
)

// has reports whether the client has an extension for a type of configuration, by its full name without a host.
func (c Client) has(category, typeName string) bool { return c.nameOf(category, typeName) != "" }

// nameOf returns the name of the extension for a type of configuration, or "" if the client does not have one.
func (c Client) nameOf(category, typeName string) string {
	for _, e := range c.Target.Extensions().ByTypeURL(typeName) {
		if c.offers(category, e.Category) {
			return e.Name
		}
	}
	return ""
}

// named reports whether the client has an extension of a name.
func (c Client) named(category, name string) bool {
	for _, e := range c.Target.Extensions().ByName(name) {
		if c.offers(category, e.Category) {
			return true
		}
	}
	return false
}

func (c Client) offers(category, listed string) bool {
	listed, variable, gated := strings.Cut(listed, ":")
	return listed == category && (!gated || c.enabled(variable, false))
}

// typeName returns the name of the type in an Any, without its host. Clients compare the whole URL, so another host is another type.
func typeName(any *anypb.Any) string {
	name, ok := strings.CutPrefix(any.GetTypeUrl(), "type.googleapis.com/")
	if !ok {
		return any.GetTypeUrl()
	}
	return name
}

// content returns the message in an Any if it is of type M.
func content[M proto.Message](at graph.At, any *anypb.Any) (m M, ok bool) {
	m, ok = at.Content(any).(M)
	return m, ok
}

// wrapped returns the type of a configuration: of a TypedStruct, the one that it names (unwrapHTTPFilterConfig). A TypedStruct can name a type
// without a host.
func wrapped(at graph.At, any *anypb.Any) (name string, isStruct bool) {
	switch m := at.Content(any).(type) {
	case *xdsv3.TypedStruct:
		return strings.TrimPrefix(m.GetTypeUrl(), "type.googleapis.com/"), true
	case *udpav1.TypedStruct:
		return strings.TrimPrefix(m.GetTypeUrl(), "type.googleapis.com/"), true
	}
	return typeName(any), false
}
