package load

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/tree"
)

// content is the type of a file or of a part of it.
type content uint8

const (
	nothing content = iota // not xDS
	bootstrap
	grpcBootstrap
	response
	deltaResponse
	configDump
	resources // bare, with "@type"
	manifest  // Kubernetes objects that hold any of these
	recording // of xDS streams
)

const (
	discoveryPackage = "envoy.service.discovery.v3."
	adminPackage     = "envoy.admin.v3."
)

// recognise returns the type of one document of a text.
func recognise(n *tree.Node) content {
	switch n.Kind {
	case tree.List:
		if len(n.Items) > 0 && n.Items[0].Get("@type") != nil {
			if byType(decode.TypeName(n.Items[0].Get("@type").Text)) == configDump {
				return configDump
			}
			return resources
		}
	case tree.Map:
		if url := n.Get("@type"); url != nil {
			return byType(decode.TypeName(url.Text))
		}
		if !isObject(n) {
			return byKeys(n)
		}
	}
	return nothing
}

func byType(name protoreflect.FullName) content {
	switch name {
	case "envoy.config.bootstrap.v3.Bootstrap":
		return bootstrap
	case discoveryPackage + "DiscoveryResponse":
		return response
	case discoveryPackage + "DeltaDiscoveryResponse":
		return deltaResponse
	case adminPackage + "ConfigDump", bootstrapDump:
		return configDump
	}
	if ofDump(name) {
		return configDump
	}
	return resources
}

func byKeys(n *tree.Node) content {
	switch {
	case isConfigDump(n):
		return configDump
	case n.Field("system_version_info") != nil || n.Field("removed_resources") != nil || n.Field("removed_resource_names") != nil:
		return deltaResponse
	case n.Field("resources") != nil && isResponse(n):
		return response
	case isGRPCBootstrap(n):
		return grpcBootstrap
	case isBootstrap(n):
		return bootstrap
	}
	return nothing
}

func isConfigDump(n *tree.Node) bool {
	configs := n.Get("configs")
	return configs != nil && configs.Kind == tree.List && (len(configs.Items) == 0 || configs.Items[0].Get("@type") != nil)
}

func isResponse(n *tree.Node) bool {
	if n.Field("type_url") != nil || n.Field("version_info") != nil {
		return true
	}
	list := n.Field("resources")
	if list.Kind == tree.Null {
		return len(n.Keys) == 1 // what is left of a file that was cut off: Envoy reads it as an empty response
	}
	return list.Kind == tree.List && (len(list.Items) == 0 || list.Items[0].Get("@type") != nil)
}

// isGRPCBootstrap reports whether a map is what GRPC_XDS_BOOTSTRAP names: JSON with fields of its own.
func isGRPCBootstrap(n *tree.Node) bool {
	if n.Get("authorities") != nil && n.Get("node") != nil {
		return true
	}
	return slices.ContainsFunc([]string{"xds_servers", "certificate_providers", "server_listener_resource_name_template", "client_default_listener_resource_name_template"}, func(key string) bool {
		return n.Get(key) != nil
	})
}

var bootstrapFields = (*bootstrapv3.Bootstrap)(nil).ProtoReflect().Descriptor().Fields()

// isBootstrap reports whether a map is a bootstrap: it has resources, or at least half of its keys are fields of one,
// besides its node. Settings of applications have keys like admin and tracing too, with other content.
func isBootstrap(n *tree.Node) bool {
	if n.Field("static_resources") != nil || n.Field("dynamic_resources") != nil {
		return true
	}
	fields, node := 0, 0
	for i, key := range n.Keys {
		switch fd := decode.FieldNamed(bootstrapFields, key.Name); {
		case fd == nil || !fits(&n.Items[i], fd):
		case fd.Name() == "node":
			node++
		default:
			fields++
		}
	}
	return fields > 0 && 2*(fields+node) >= len(n.Keys)
}

// fits reports whether a value may be meant for a field: a map has one of the fields of its message.
func fits(n *tree.Node, fd protoreflect.FieldDescriptor) bool {
	if n.Kind == tree.List && fd.IsList() && len(n.Items) > 0 {
		n = &n.Items[0]
	}
	if fd.Message() == nil {
		return n.Kind != tree.Map
	}
	if fd.IsMap() || n.Kind == tree.Null || decode.HasOwnJSON(fd.Message().FullName()) {
		return true
	}
	return n.Kind == tree.Map && (len(n.Keys) == 0 || slices.ContainsFunc(n.Keys, func(key tree.Key) bool {
		return decode.FieldNamed(fd.Message().Fields(), key.Name) != nil
	}))
}

// plainly reports whether a document is xDS beyond doubt: it has the resources of a bootstrap, or a type of Envoy's.
func plainly(n *tree.Node) bool {
	for _, resources := range []*tree.Node{n.Field("static_resources"), n.Field("dynamic_resources")} {
		if resources != nil && resources.Kind == tree.Map {
			return true
		}
	}
	if ofEnvoy(n) {
		return true
	}
	for _, list := range []*tree.Node{n, n.Field("resources"), n.Field("configs")} {
		if list != nil && list.Kind == tree.List && len(list.Items) > 0 && ofEnvoy(&list.Items[0]) {
			return true
		}
	}
	return false
}

func ofEnvoy(n *tree.Node) bool {
	url := n.Get("@type")
	return url != nil && strings.HasPrefix(string(decode.TypeName(url.Text)), "envoy.")
}
