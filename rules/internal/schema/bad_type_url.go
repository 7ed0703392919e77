package schema

import (
	"fmt"
	"slices"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	dubbov3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/dubbo_proxy/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/constraint"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:      "bad-type-url",
	Family:    dataplane.Envoy,
	Severity:  lint.Error,
	Fragments: true,
	Summary:   "a type URL names an unknown type, or an extension that does not belong there",
	Links:     []string{"https://github.com/envoyproxy/envoy/issues/21759"},
	Run: lint.EachNamed(checkTypes, "google.protobuf.Any", "envoy.config.core.v3.ExtensionConfigSource", "envoy.config.cluster.v3.Cluster",
		"envoy.config.cluster.v3.Cluster.CustomClusterType", "envoy.config.core.v3.TypedExtensionConfig",
		"envoy.extensions.filters.network.dubbo_proxy.v3.DubboFilter", "envoy.config.cluster.v3.LoadBalancingPolicy").And(lint.EachProblem(unknownResource, graph.UnknownType)),
})

// unknownResource reports a resource of an unknown type, which no message holds.
func unknownResource(p *lint.Pass, r *graph.Resource, problem graph.Problem) {
	if r.Message == nil {
		p.ReportProblem(r, problem, unknownType(p, lint.AtProblem(r, problem).Field("@type"), problem.Name))
	}
}

func checkTypes(p *lint.Pass, at lint.At, m protoreflect.Message) {
	switch m := m.Interface().(type) {
	case *anypb.Any:
		checkAny(p, at, m.GetTypeUrl())
	case *corev3.ExtensionConfigSource:
		checkTypeURLs(p, at, m)
	case *clusterv3.Cluster:
		checkOptionNames(p, at, m)
	case *clusterv3.Cluster_CustomClusterType:
		checkClusterType(p, at, m)
	case *corev3.TypedExtensionConfig:
		checkNamed(p, at, m.GetName())
	case *dubbov3.DubboFilter:
		checkNamed(p, at, m.GetName())
	case *clusterv3.LoadBalancingPolicy:
		checkPolicies(p, at, m)
	}
}

func checkAny(p *lint.Pass, at lint.At, url string) {
	x := p.Target.Extensions()
	name := envoy.ExtensionType(at.Place)
	if url == "" {
		emptyPerRoute(p, at)
		return
	}
	if decode.IsOld(name) {
		return // version/v2
	}
	text := at.Resource().Text != nil
	if !strings.Contains(url, "/") || strings.HasPrefix(url, "/") {
		d := lint.Diagnostic{
			Message:  fmt.Sprintf("the type URL %q has no host before the type name", url),
			Notes:    []string{envoy.OnReject(at.Resource())},
			Help:     fmt.Sprintf("write type.googleapis.com/%s", strings.TrimPrefix(url, "/")),
			Rejected: text || envoy.Reads(x, at.Place), Upstream: "@type must contain at least one / and a nonempty host",
		}
		if full := "type.googleapis.com/" + strings.TrimPrefix(url, "/"); d.Rejected {
			d.Fixes = lint.Replace(at.Field(typeKey(at)), full).Safe("write " + full)
		}
		reportType(p, at, d)
		return
	}
	pt, plugged := envoy.PointOf(at.Place)
	if plugged && envoy.Ignored(x, pt, at.Place) {
		plugged = false
	}
	rejected := plugged && envoy.OuterRead(p.Target.Extensions(), at.Place) && !pt.Takes(x, name) && !optional(at.Place, pt)
	switch {
	case !official(p.Target, name):
		if ofOtherBuild(p, at, name) {
			return // schema/opaque-any
		}
		d := unknownType(p, at.Field(typeKey(at)), string(name))
		inText := text && decode.TypeName(url) == name // the type in a TypedStruct is looked up, not decoded
		d.Rejected = inText || rejected
		if at.Place.Opaque && d.Help == "" {
			d.Help = "to check its content, pass the descriptor of its type with --proto-descriptors"
		}
		if d.Rejected || at.Place.Opaque {
			reportType(p, at, d)
		}
	case plugged && !rejected && envoy.OuterRead(x, at.Place):
		checkPosition(p, at, pt, name)
	case rejected && (!envoy.IsFilterConfig(at.Place) || inFilterConfig(at.Place)) && !byItsName(pt, name):
		d := misplaced(p, pt, name, at.Field(typeKey(at)))
		late(&d, pt)
		reportType(p, at, d)
	}
}

// ofOtherBuild reports whether an unknown type is in a patch and may be one of the control plane's own proxies: Istio's
// has many extensions that Envoy lacks. It may not if it is misspelt, or in a package that only Envoy uses.
func ofOtherBuild(p *lint.Pass, at lint.At, name protoreflect.FullName) bool {
	if at.Resource().Kind != graph.Patch || at.Place.Opaque && strings.HasPrefix(string(name), "envoy.extensions.") {
		return false
	}
	return nearestType(p.Target.Extensions(), name) == ""
}

// inFilterConfig reports whether at is the content of a FilterConfig, which cannot be another FilterConfig.
func inFilterConfig(at *graph.Place) bool {
	if at.Parent == nil {
		return false
	}
	_, ok := at.Parent.Message.Interface().(*routev3.FilterConfig)
	return ok
}

// emptyPerRoute reports a configuration per route that has no type. In a FilterConfig, that enables the filter.
func emptyPerRoute(p *lint.Pass, at lint.At) {
	pt, ok := envoy.PointOf(at.Place)
	if !ok || !pt.IsPerRoute() || pt.Wrapping != at.Place || undecoded(at.Place) || !envoy.OuterRead(p.Target.Extensions(), at.Place) {
		return
	}
	p.Reject(at, lint.Rejection{
		Message:  "the per-route configuration of a filter has no type",
		Help:     `write "@type" and the configuration; to only enable the filter, "@type": type.googleapis.com/envoy.config.route.v3.FilterConfig and config: {}`,
		Upstream: "Didn't find a registered implementation for '…' with type URL: ''",
	})
}

// checkPosition checks which type is where: many HTTP filters have two, one for the chain and one for routes.
func checkPosition(p *lint.Pass, at lint.At, pt envoy.Point, name protoreflect.FullName) {
	if !slices.Contains(pt.Categories, "envoy.filters.http") && !slices.Contains(pt.Categories, "envoy.filters.http.upstream") {
		return
	}
	content := at.Resource().Contents[at.Place.Message.Interface()]
	instead, swapped := pt.Swapped(name)
	switch {
	case pt.IsPerRoute() && envoy.ChainOnly(name) && !optional(at.Place, pt):
		reportType(p, at, lint.Diagnostic{
			Message: fmt.Sprintf("the filter of %s does not take a configuration per route", name),
			Notes:   []string{envoy.OnReject(at.Resource())}, Rejected: true,
			Upstream: "doesn't support virtual host or route specific configurations",
		})
	case swapped && content != nil && (proto.Size(content) > 0 || !emptyValid(p, instead)):
		place := "the filter chain"
		if pt.IsPerRoute() {
			place = "typed_per_filter_config"
		}
		reportType(p, at, lint.Diagnostic{
			Message: fmt.Sprintf("%s does not belong in %s", name, place),
			Notes:   []string{envoy.OnReject(at.Resource())}, Rejected: true,
			Help:     fmt.Sprintf("write %q here", "type.googleapis.com/"+string(instead)),
			Upstream: fmt.Sprintf("Unable to unpack as %s", instead),
		})
	}
}

// emptyValid reports whether an empty message of a type satisfies all constraints. Envoy treats an empty configuration of
// either type as one of the type that belongs there.
func emptyValid(p *lint.Pass, name protoreflect.FullName) bool {
	mt, err := types.Envoy.FindMessageByName(name)
	valid := true
	if err == nil {
		envoy.ConstraintsOf(p.Target, mt.Descriptor()).Check(mt.New(), func(constraint.Violation) { valid = false })
	}
	return valid
}

// byItsName reports whether Envoy looks the extension up by name and ignores the type of its configuration.
func byItsName(pt envoy.Point, name protoreflect.FullName) bool {
	if _, ok := envoy.LookedUpByName[pt.Field]; ok {
		return true
	}
	return pt.Field == "envoy.config.cluster.v3.Cluster.cluster_type" && name == "google.protobuf.Struct"
}

// typeKey is the key that holds the type in a text: that of the Any, or of the TypedStruct in it.
func typeKey(at lint.At) string {
	if decode.IsTypedStruct(decode.TypeName(at.Place.Message.Get(at.Place.Message.Descriptor().Fields().ByNumber(1)).String())) {
		return "type_url"
	}
	return "@type"
}

// reportType points to the type URL where the resource was read from text, otherwise to the Any.
func reportType(p *lint.Pass, at lint.At, d lint.Diagnostic) {
	if found := at.Resource().Locate(at.Path().Field(typeKey(at))); found.Exact {
		d.Span = found.Value
	}
	p.Report(at, d)
}

func inCategories(p *lint.Pass, categories []string) []string {
	x := p.Target.Extensions()
	var names []string
	for _, name := range typeNames(x) {
		if (envoy.Point{Categories: categories}).Takes(x, protoreflect.FullName(name)) {
			names = append(names, name)
		}
	}
	return names
}

// kindOf describes categories: "an extension of the category envoy.filters.http".
func kindOf(categories []string) string {
	return "an extension of the category " + strings.Join(categories, " or ")
}

func unique(names []string) []string {
	var kept []string
	seen := map[string]bool{}
	for _, name := range names {
		if !seen[name] {
			seen[name] = true
			kept = append(kept, name)
		}
	}
	return kept
}

// optional reports whether Envoy skips the extension if its build does not have it.
func optional(at *graph.Place, pt envoy.Point) bool {
	for around := at; around != nil && around != pt.Holder; around = around.Parent {
		switch m := around.Message.Interface().(type) {
		case *hcmv3.HttpFilter:
			if m.GetIsOptional() {
				return true
			}
		case *routev3.FilterConfig:
			if m.GetIsOptional() {
				return true
			}
		}
	}
	if pt.Holder != nil {
		plugin, ok := pt.Holder.Message.Interface().(*routev3.ClusterSpecifierPlugin)
		return ok && plugin.GetIsOptional()
	}
	return false
}

// checkTypeURLs checks the types that a discovered filter may have (processDynamicFilterConfig).
func checkTypeURLs(p *lint.Pass, at lint.At, source *corev3.ExtensionConfigSource) {
	pt, ok := envoy.PointOf(at.Place)
	if !ok || !envoy.OuterRead(p.Target.Extensions(), at.Place) {
		return
	}
	for i, url := range source.GetTypeUrls() {
		name := decode.TypeName(url)
		if pt.Takes(p.Target.Extensions(), name) {
			continue
		}
		d := misplaced(p, pt, name, at.Item("type_urls", i))
		if !official(p.Target, name) {
			d = unknownType(p, at.Item("type_urls", i), url)
		}
		d.Upstream = fmt.Sprintf("Error: no factory found for a required type URL %s.", name)
		if slices.Contains(pt.Categories, "envoy.filters.network") || slices.Contains(pt.Categories, "envoy.filters.upstream_network") {
			d.Severity, d.Rejected, d.Upstream = lint.Warning, false, ""
			d.Notes = []string{"for network filters, Envoy reads the list when a configuration arrives, and rejects that configuration"}
		}
		p.Report(at.Item("type_urls", i), d)
	}
}

// checkOptionNames checks the keys of typed_extension_protocol_options, where Envoy looks extensions up by name
// (createProtocolOptionsConfig).
func checkOptionNames(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
	for name := range c.GetTypedExtensionProtocolOptions() {
		checkName(p, at.Entry("typed_extension_protocol_options", name).Key(), name,
			"filter or protocol options",
			"Didn't find a registered network or http filter or protocol options implementation for name: '%s'",
			"envoy.filters.network", "envoy.filters.http", "envoy.upstream_options")
	}
}

// checkClusterType checks a custom cluster type without a configuration, which Envoy looks up by name
// (ClusterFactoryImplBase::create).
func checkClusterType(p *lint.Pass, at lint.At, custom *clusterv3.Cluster_CustomClusterType) {
	if custom.GetTypedConfig() == nil || decode.TypeName(custom.GetTypedConfig().GetTypeUrl()) == "google.protobuf.Struct" {
		checkName(p, at.Field("name"), custom.GetName(), "cluster type",
			"Didn't find a registered cluster factory implementation for name: '%s'", "envoy.clusters")
	}
}

// checkNamed checks the other extensions that Envoy looks up by name.
func checkNamed(p *lint.Pass, at lint.At, name string) {
	if pt, _ := envoy.PointOf(at.Place); envoy.LookedUpByName[pt.Field] != "" && envoy.OuterRead(p.Target.Extensions(), at.Place) {
		checkName(p, at.Field("name"), name, "extension of the category "+envoy.LookedUpByName[pt.Field],
			"Didn't find a registered implementation for name: '%s'", envoy.LookedUpByName[pt.Field])
		checkTypeOf(p, at, name, envoy.LookedUpByName[pt.Field])
	}
}

// checkTypeOf checks the type of a configuration whose extension Envoy looks up by name. Envoy treats an empty one as one of the right type.
func checkTypeOf(p *lint.Pass, at lint.At, name, category string) {
	config, ok := at.Place.Message.Interface().(*corev3.TypedExtensionConfig)
	if !ok {
		return
	}
	is := decode.TypeName(config.GetTypedConfig().GetTypeUrl())
	for _, e := range p.Target.Extensions().ByName(name) {
		if e.Category != category || decode.IsTypedStruct(is) || slices.Contains(e.TypeURLs, string(is)) || len(e.TypeURLs) == 0 {
			continue
		}
		if instead := protoreflect.FullName(e.TypeURLs[0]); len(config.GetTypedConfig().GetValue()) == 0 && emptyValid(p, instead) {
			continue
		}
		p.Reject(at.Field("typed_config"), lint.Rejection{
			Message:  fmt.Sprintf("%s does not configure %s", is, name),
			Help:     fmt.Sprintf("write %q here, or the name of another extension", "type.googleapis.com/"+e.TypeURLs[0]),
			Upstream: "Unable to unpack as " + e.TypeURLs[0],
		})
	}
}

// checkName reports a name that is in none of the categories.
func checkName(p *lint.Pass, at lint.At, name, what, upstream string, categories ...string) {
	if name == "" || named(p, name, categories) {
		return // an empty one breaks a constraint
	}
	d := lint.Diagnostic{
		Severity: lint.Warning,
		Message:  fmt.Sprintf("%s has no %s named %q", build(p), what, name),
		Notes:    []string{"Envoy looks this extension up by name, not by type", envoy.OnReject(at.Resource())},
		Rejected: true,
		Upstream: fmt.Sprintf(upstream, name),
	}
	var names []string
	for _, category := range categories {
		names = append(names, namesIn(p.Target.Extensions(), category)...)
	}
	near := nearestTypo(name, sorted(names))
	if near != "" {
		d.Help = fmt.Sprintf("did you mean %q?", near)
		if _, entry := at.Path().Key(); entry {
			d.Fixes = lint.Rename(at, near).Likely("write " + near)
		} else {
			d.Fixes = lint.Replace(at, near).Likely("write " + near)
		}
	}
	if near != "" || p.TargetGiven {
		d.Severity = lint.Error
	}
	p.Report(at, d)
}

// typeIn returns the type of what an Any holds. A TypedStruct holds something of another type.
func typeIn(at lint.At, config *anypb.Any) protoreflect.FullName {
	if typed, ok := at.Content(config).(interface{ GetTypeUrl() string }); ok && decode.IsTypedStruct(decode.TypeName(config.GetTypeUrl())) {
		return decode.TypeName(typed.GetTypeUrl())
	}
	return decode.TypeName(config.GetTypeUrl())
}

// checkPolicies reports a list without a load balancing policy that Envoy has. Envoy uses the first that it has.
func checkPolicies(p *lint.Pass, at lint.At, list *clusterv3.LoadBalancingPolicy) {
	x := p.Target.Extensions()
	var names []string
	for _, policy := range list.GetPolicies() {
		config := policy.GetTypedExtensionConfig()
		name := typeIn(at, config.GetTypedConfig())
		if decode.IsTypedStruct(name) || envoy.Known(x, name, "envoy.load_balancing_policies") {
			return
		}
		names = append(names, config.GetName())
	}
	if !envoy.OuterRead(p.Target.Extensions(), at.Place) {
		return
	}
	message := build(p) + " has none of these load balancing policies"
	if len(names) == 0 {
		message = "the list of load balancing policies is empty"
	}
	p.Report(at.Field("policies").Key(), lint.Diagnostic{
		Message:  message,
		Notes:    []string{envoy.OnReject(at.Resource())},
		Rejected: true,
		Upstream: fmt.Sprintf("cluster: didn't find a registered load balancer factory implementation for cluster: '…' with names from [%s]", strings.Join(names, ", ")),
	})
}
