package schema

import (
	"slices"
	"strings"
	"unicode"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph/decode/types"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/lint/target"
)

// unlinked are packages, and types in packages that are otherwise linked, that go-control-plane has and the official
// Envoy 1.40 lacks: its JSON reader does not find the type. Asked of the real one, type by type.
var unlinked = map[string]bool{
	"envoy.extensions.filters.http.gzip.v3":                                        true,
	"envoy.extensions.filters.http.kill_request.v3":                                true,
	"envoy.extensions.grpc_service.call_credentials.access_token.v3":               true,
	"envoy.extensions.grpc_service.call_credentials.file_based_metadata.v3":        true,
	"envoy.extensions.grpc_service.call_credentials.google_compute_engine.v3":      true,
	"envoy.extensions.grpc_service.call_credentials.google_iam.v3":                 true,
	"envoy.extensions.grpc_service.call_credentials.google_refresh_token.v3":       true,
	"envoy.extensions.grpc_service.call_credentials.service_account_jwt_access.v3": true,
	"envoy.extensions.grpc_service.call_credentials.sts_service.v3":                true,
	"envoy.extensions.grpc_service.channel_credentials.google_default.v3":          true,
	"envoy.extensions.grpc_service.channel_credentials.insecure.v3":                true,
	"envoy.extensions.grpc_service.channel_credentials.local.v3":                   true,
	"envoy.extensions.grpc_service.channel_credentials.tls.v3":                     true,
	"envoy.extensions.grpc_service.channel_credentials.xds.v3":                     true,
	"envoy.extensions.load_balancing_policies.pick_first.v3":                       true,
	"envoy.extensions.load_balancing_policies.random_subsetting.v3":                true,
	"envoy.extensions.outlier_detection_monitors.common.v3":                        true,
	"envoy.extensions.outlier_detection_monitors.consecutive_errors.v3":            true,
	"envoy.extensions.rbac.audit_loggers.stream.v3":                                true,
	"envoy.extensions.transport_sockets.s2a.v3":                                    true,
}

// official tells whether a message type is part of the target's official build.
func official(name protoreflect.FullName) bool {
	if unlinked[string(name.Parent())] {
		return false
	}
	_, err := types.Envoy.FindMessageByName(name)
	return err == nil
}

// isV2 tells the types of the v2 API, which are version/v2's business.
func isV2(name protoreflect.FullName) bool {
	if strings.HasPrefix(string(name), "envoy.api.v2.") {
		return true
	}
	last := string(name.Parent().Name())
	return strings.HasPrefix(string(name), "envoy.") && (last == "v2" || strings.HasPrefix(last, "v2alpha"))
}

// typeNames lists what a misspelt type may have been meant to be: of all extension configurations, and the resources.
func typeNames(x *target.Extensions) []string {
	var names []string
	types.Each(func(name, _ protoreflect.FullName) {
		if strings.HasPrefix(string(name), "envoy.") && (len(x.ByTypeURL(string(name))) > 0 || strings.HasPrefix(string(name), "envoy.config.")) {
			names = append(names, string(name))
		}
	})
	return sorted(names)
}

// nearestType finds the type that a misspelt name means: one that is spelled almost so, else the only one with the same
// last part in another package.
func nearestType(x *target.Extensions, name protoreflect.FullName) string {
	names := typeNames(x)
	if near := nearestTypo(string(name), names); near != "" {
		return near
	}
	var same []string
	for _, candidate := range names {
		if strings.HasSuffix(candidate, "."+string(name.Name())) && plausible(name) {
			same = append(same, candidate)
		}
	}
	if len(same) == 1 {
		return same[0]
	}
	return ""
}

// plausible tells an attempt at one of Envoy's own types from a vendor's type.
func plausible(name protoreflect.FullName) bool {
	return strings.HasPrefix(string(name), "envoy.") && name.Name() != "Config" && unicode.IsUpper(rune(name.Name()[0]))
}

// named tells whether an extension of that name is in one of the categories.
func named(p *lint.Pass, name string, categories []string) bool {
	for _, e := range p.Target.Extensions().ByName(name) {
		if slices.Contains(categories, e.Category) {
			return true
		}
	}
	return false
}

// namesIn lists the names of a category's extensions, as far as they have configurations.
func namesIn(x *target.Extensions, category string) []string {
	var names []string
	for _, typeName := range typeNames(x) {
		for _, e := range x.ByTypeURL(typeName) {
			if e.Category == category {
				names = append(names, e.Name)
			}
		}
	}
	return sorted(names)
}
