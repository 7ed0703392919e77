package load

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/tree"
)

// applyTo is one value of an EnvoyFilter's applyTo: what a patch changes.
type applyTo struct {
	name    string
	message protoreflect.FullName
	into    protoreflect.FullName // the field for it, if it is an extension
	works   []string              // the operations that have an effect: pilot/pkg/networking/core/envoyfilter
}

var (
	merges  = []string{"MERGE", "MERGE_AND_REPLACE_LIST"}
	inserts = []string{"INSERT_BEFORE", "INSERT_AFTER", "INSERT_FIRST"}
	adds    = append([]string{"ADD"}, inserts...) // where order does not matter, Istio treats an insert as an ADD
	listed  = slices.Concat(merges, adds, []string{"REMOVE"})
	filters = slices.Concat([]string{"MERGE", "REMOVE", "REPLACE"}, adds)
)

// appliesTo is BuildXDSObjectFromStruct of Istio's pkg/config/xds.
var appliesTo = []applyTo{
	{name: "LISTENER", message: "envoy.config.listener.v3.Listener", works: listed},
	{name: "FILTER_CHAIN", message: "envoy.config.listener.v3.FilterChain", works: listed},
	{name: "NETWORK_FILTER", message: "envoy.config.listener.v3.Filter", into: "envoy.config.listener.v3.FilterChain.filters", works: filters},
	{name: "HTTP_FILTER", message: managerPackage + "HttpFilter", into: managerPackage + "HttpConnectionManager.http_filters", works: filters},
	{name: "ROUTE_CONFIGURATION", message: "envoy.config.route.v3.RouteConfiguration", works: merges},
	{name: "VIRTUAL_HOST", message: "envoy.config.route.v3.VirtualHost", works: append([]string{"REPLACE"}, listed...)},
	{name: "HTTP_ROUTE", message: "envoy.config.route.v3.Route", works: listed},
	{name: "CLUSTER", message: "envoy.config.cluster.v3.Cluster", works: listed},
	{name: "EXTENSION_CONFIG", message: "envoy.config.core.v3.TypedExtensionConfig", works: adds},
	{name: "BOOTSTRAP", message: bootstrapName, works: merges},
	{name: "LISTENER_FILTER", message: "envoy.config.listener.v3.ListenerFilter", into: "envoy.config.listener.v3.Listener.listener_filters", works: filters},
}

const managerPackage protoreflect.FullName = "envoy.extensions.filters.network.http_connection_manager.v3."

var operations = slices.Concat(merges, adds, []string{"REMOVE", "REPLACE"})

// envoyFilter reads the patches of Istio's EnvoyFilter (networking.istio.io/v1alpha3). It reports what Istio's own
// validation rejects (pkg/config/validation/envoyfilter).
func (l *loader) envoyFilter(o *object) ([]*graph.Snapshot, error) {
	var all []*graph.Snapshot
	items := o.list("spec", "configPatches")
	for i := range items {
		at := pathOfKeys([]string{"spec"}).Item("configPatches", i)
		p := l.configPatch(o, at, &items[i])
		if p == nil {
			continue
		}
		s, err := l.patched(o, p)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// configPatch reads one patch; nil if it has no value.
func (l *loader) configPatch(o *object, at *graph.Path, n *graph.TextNode) *part {
	if n.Kind != tree.Map {
		o.wrong(at, n, "%s where a patch is expected: applyTo, match and patch", n.Kind)
		return nil
	}
	var names []string
	for _, to := range appliesTo {
		names = append(names, to.name)
	}
	name := o.oneOf(at, n, "applyTo", names, "there is no applyTo, which says what is patched")
	o.matched(at, n.Get("match"), name)
	body := n.Get("patch")
	if body == nil || body.Kind != tree.Map {
		o.wrong(at.Field("patch"), orElse(body, n), "there is no patch, with an operation and a value")
		return nil
	}
	at = at.Field("patch")
	operation := o.oneOf(at, body, "operation", operations, "there is no operation, which says how the value is applied")
	if name == "" || operation == "" {
		return nil
	}
	to := appliesTo[slices.Index(names, name)]
	switch {
	case !slices.Contains(to.works, operation):
		o.wrong(at.Field("operation"), body.Get("operation"), "Istio ignores the operation %s where applyTo is %s", operation, name).Lenient = true
	case idle(name, operation, n.Get("match")):
		o.wrong(at.Field("operation"), body.Get("operation"), "Istio ignores %s for %s unless match names the filter: %s", operation, name, pathOfKeys(named[name])).Lenient = true
	}
	if operation == "REMOVE" {
		return nil
	}
	value := body.Get("value")
	if value == nil || value.Kind != tree.Map {
		o.wrong(at.Field("value"), orElse(value, body), "the operation %s needs a value: the fields of an %s", operation, to.message)
		return nil
	}
	p := &part{node: value, format: decode.Jsonpb}
	p.message, _ = l.types.FindMessageByName(to.message)
	p.resource = &graph.Resource{Within: at.Field("value"), Into: to.into, Fragment: slices.Contains(merges, operation)}
	return p
}

func orElse(n, other *graph.TextNode) *graph.TextNode {
	if n == nil {
		return other
	}
	return n
}
