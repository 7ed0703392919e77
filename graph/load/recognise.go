package load

import (
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
	response
	deltaResponse
	configDump
	resources // bare, with "@type"
	manifest  // Kubernetes objects that hold any of these
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
	case adminPackage + "ConfigDump":
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
	return list.Kind == tree.List && (len(list.Items) == 0 || list.Items[0].Get("@type") != nil)
}

var bootstrapFields = (*bootstrapv3.Bootstrap)(nil).ProtoReflect().Descriptor().Fields()

func isBootstrap(n *tree.Node) bool {
	for _, key := range n.Keys {
		fd := bootstrapFields.ByName(protoreflect.Name(key.Name))
		if fd == nil {
			fd = bootstrapFields.ByJSONName(key.Name)
		}
		if fd != nil && fd.Name() != "node" {
			return true
		}
	}
	return false
}
