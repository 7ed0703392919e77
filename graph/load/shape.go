package load

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/nearest"
	"github.com/xdslint/xdslint/internal/tree"
)

// shapes are the resources that people write without an "@type".
var shapes = []protoreflect.FullName{
	"envoy.config.listener.v3.Listener", "envoy.config.cluster.v3.Cluster", "envoy.config.endpoint.v3.ClusterLoadAssignment",
	"envoy.config.route.v3.RouteConfiguration", "envoy.config.route.v3.ScopedRouteConfiguration", "envoy.config.route.v3.VirtualHost",
	"envoy.extensions.transport_sockets.tls.v3.Secret", "envoy.service.runtime.v3.Runtime", "envoy.config.core.v3.TypedExtensionConfig",
}

// first returns the first item of a list, or what is not a list itself.
func first(n *graph.TextNode) *graph.TextNode {
	if n != nil && n.Kind == tree.List && len(n.Items) > 0 {
		return &n.Items[0]
	}
	return n
}

// firstKey returns the place of the first key of a resource, or of the first one in a list.
func firstKey(n *graph.TextNode) graph.Span { return first(n).Keys[0].Span() }

// looksLike returns the type of a resource without an "@type", or of the first one in a list: the only type that has
// most of its keys. It returns "" if there is none.
func looksLike(n *graph.TextNode) (best protoreflect.FullName) {
	if n = first(n); n == nil || n.Kind != tree.Map {
		return ""
	}
	most := 1 // one key may be anything's
	for _, name := range shapes {
		mt, err := types.Envoy.FindMessageByName(name)
		if err != nil {
			continue
		}
		known := 0
		for i, key := range n.Keys {
			if fd := decode.FieldNamed(mt.Descriptor().Fields(), key.Name); fd != nil && fits(&n.Items[i], fd) {
				known++
			}
		}
		switch {
		case known == most:
			best = ""
		case known > most && 2*known > len(n.Keys):
			best, most = name, known
		}
	}
	return best
}

// isForeign reports whether a map has nothing of a bootstrap: not a field of one, of its resources or with a similar name.
func isForeign(n *graph.TextNode) bool {
	var names []string
	for _, fields := range []protoreflect.FieldDescriptors{
		bootstrapFields, bootstrapFields.ByName("static_resources").Message().Fields(), bootstrapFields.ByName("dynamic_resources").Message().Fields(),
	} {
		for i := range fields.Len() {
			names = append(names, string(fields.Get(i).Name()), fields.Get(i).JSONName())
		}
	}
	finder := nearest.Finder{Work: nearest.Unlimited}
	return len(n.Keys) > 0 && !slices.ContainsFunc(n.Keys, func(key tree.Key) bool {
		return slices.Contains(names, key.Name) || finder.Name(key.Name, names) != ""
	})
}

func untypedResource(kind protoreflect.FullName) string {
	return "this looks like a " + string(kind.Name()) + " without its type"
}
