package grpc

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	udpav1 "github.com/cncf/xds/go/udpa/type/v1"
	xdsv3 "github.com/cncf/xds/go/xds/type/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbacconfigv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
)

// RBAC checks the policies of RBAC filters (rbac.parseConfig, gRFC A41). A client checks them too, although only a server enforces them.
func (c Client) RBAC(at graph.At, resource proto.Message) []Fault {
	return c.eachConfig(at, resource, func(at graph.At, config proto.Message) []Fault {
		switch m := config.(type) {
		case *rbacv3.RBAC:
			return c.rules(at, m)
		case *rbacv3.RBACPerRoute:
			if m.GetRbac() == nil && c.is(Go) { // parseConfig panics, and the client recovers
				return rejected(at, "the configuration of RBAC for a route has no rbac", "recovered from panic during resource parsing", "to switch RBAC off for the route, write rbac: {}")
			}
			return c.rules(at.Field("rbac"), m.GetRbac())
		}
		return nil
	})
}

// rules checks the rules of a filter. If it only logs, they are not built.
func (c Client) rules(at graph.At, filter *rbacv3.RBAC) (all []Fault) {
	rules := filter.GetRules()
	at = at.Field("rules")
	for _, name := range slices.Sorted(maps.Keys(rules.GetPolicies())) {
		policy, at := rules.GetPolicies()[name], at.Entry("policies", name)
		if policy.GetCondition() != nil {
			all = append(all, rejected(at.Field("condition"), "gRPC does not evaluate the condition of a policy", "Policy.condition is present", "write the condition as permissions and principals")...)
		}
		if policy.GetCheckedCondition() != nil {
			all = append(all, rejected(at.Field("checked_condition"), "gRPC does not evaluate the condition of a policy", "policy.CheckedCondition is present", "write the condition as permissions and principals")...)
		}
		r := rbac{c, rules.GetAction() != rbacconfigv3.RBAC_LOG}
		for i, p := range policy.GetPermissions() {
			all = append(all, r.permission(at.Item("permissions", i), p)...)
		}
		for i, p := range policy.GetPrincipals() {
			all = append(all, r.principal(at.Item("principals", i), p)...)
		}
	}
	if rules.GetAction() > rbacconfigv3.RBAC_LOG {
		all = append(all, rejected(at.Field("action"), "gRPC does not know this action", "unsupported action", "write ALLOW or DENY")...)
	}
	if rules != nil && rules.GetAction() != rbacconfigv3.RBAC_LOG {
		all = append(all, c.auditLoggers(at.Field("audit_logging_options"), rules.GetAuditLoggingOptions())...)
	}
	return all
}

// NotEnforced reports RBAC filters that do not reject anything: without rules, with rules that only log, and with shadow rules (rbac.parseConfig).
func (c Client) NotEnforced(at graph.At, resource proto.Message) []Fault {
	return c.eachConfig(at, resource, func(at graph.At, config proto.Message) []Fault {
		if m, ok := config.(*rbacv3.RBAC); ok {
			return notEnforced(at, m)
		}
		return nil
	})
}

func notEnforced(at graph.At, filter *rbacv3.RBAC) (all []Fault) {
	const help = "write rules with the action ALLOW or DENY"
	switch {
	case filter.GetRules() == nil:
		all = append(all, accepted(at, Ignores, "the RBAC filter has no rules that gRPC enforces", "lets all RPCs through", help)...)
	case filter.GetRules().GetAction() == rbacconfigv3.RBAC_LOG:
		all = append(all, accepted(at.Field("rules", "action"), Ignores, "the RBAC filter only logs, and gRPC does not log", "lets all RPCs through", help)...)
	}
	if filter.GetShadowRules() != nil {
		all = append(all, accepted(at.Field("shadow_rules"), Ignores, "gRPC does not evaluate shadow_rules", "ignores shadow_rules", "remove them")...)
	}
	return all
}

// rbac checks permissions and principals. If they are not built, only the names of headers are.
type rbac struct {
	Client
	built bool
}

func (r rbac) permission(at graph.At, p *rbacconfigv3.Permission) (all []Fault) {
	switch m := p.GetRule().(type) {
	case *rbacconfigv3.Permission_AndRules:
		for i, inner := range m.AndRules.GetRules() {
			all = append(all, r.permission(at.Field("and_rules").Item("rules", i), inner)...)
		}
	case *rbacconfigv3.Permission_OrRules:
		for i, inner := range m.OrRules.GetRules() {
			all = append(all, r.permission(at.Field("or_rules").Item("rules", i), inner)...)
		}
	case *rbacconfigv3.Permission_NotRule:
		return r.permission(at.Field("not_rule"), m.NotRule)
	case *rbacconfigv3.Permission_Header:
		return r.header(at.Field("header"), m.Header)
	case *rbacconfigv3.Permission_UrlPath:
		return r.ifBuilt(func() []Fault { return r.text(at.Field("url_path", "path"), m.UrlPath.GetPath()) })
	case *rbacconfigv3.Permission_RequestedServerName:
		return r.serverName(at.Field("requested_server_name"), m.RequestedServerName)
	case *rbacconfigv3.Permission_DestinationIp:
		return r.address(at.Field("destination_ip"), m.DestinationIp)
	case *rbacconfigv3.Permission_Any, *rbacconfigv3.Permission_DestinationPort:
	case *rbacconfigv3.Permission_Metadata:
		return r.never(at.Field("metadata"), m.Metadata.GetInvert())
	default:
		return r.unsupported(at, "permission", "unsupported permission rule type")
	}
	return all
}

func (r rbac) principal(at graph.At, p *rbacconfigv3.Principal) (all []Fault) {
	switch m := p.GetIdentifier().(type) {
	case *rbacconfigv3.Principal_AndIds:
		for i, inner := range m.AndIds.GetIds() {
			all = append(all, r.principal(at.Field("and_ids").Item("ids", i), inner)...)
		}
	case *rbacconfigv3.Principal_OrIds:
		for i, inner := range m.OrIds.GetIds() {
			all = append(all, r.principal(at.Field("or_ids").Item("ids", i), inner)...)
		}
	case *rbacconfigv3.Principal_NotId:
		return r.principal(at.Field("not_id"), m.NotId)
	case *rbacconfigv3.Principal_Header:
		return r.header(at.Field("header"), m.Header)
	case *rbacconfigv3.Principal_UrlPath:
		return r.ifBuilt(func() []Fault { return r.text(at.Field("url_path", "path"), m.UrlPath.GetPath()) })
	case *rbacconfigv3.Principal_Authenticated_:
		if name := m.Authenticated.GetPrincipalName(); name != nil {
			return r.ifBuilt(func() []Fault { return r.text(at.Field("authenticated", "principal_name"), name) })
		}
	case *rbacconfigv3.Principal_SourceIp: //nolint:staticcheck // deprecated, and in use
		return r.address(at.Field("source_ip"), m.SourceIp)
	case *rbacconfigv3.Principal_DirectRemoteIp:
		return r.address(at.Field("direct_remote_ip"), m.DirectRemoteIp)
	case *rbacconfigv3.Principal_RemoteIp:
		return r.address(at.Field("remote_ip"), m.RemoteIp)
	case *rbacconfigv3.Principal_Any:
	case *rbacconfigv3.Principal_Metadata: //nolint:staticcheck // deprecated, and in use
		return r.never(at.Field("metadata"), m.Metadata.GetInvert())
	default:
		return r.unsupported(at, "principal", "unsupported principal identifier type")
	}
	return all
}

func (r rbac) ifBuilt(check func() []Fault) []Fault {
	if !r.built {
		return nil
	}
	return check()
}

func (r rbac) unsupported(at graph.At, what, upstream string) []Fault {
	return r.ifBuilt(func() []Fault {
		return rejected(at, fmt.Sprintf("gRPC does not support this %s", what), upstream, "write a "+what+" that gRPC knows: headers, paths, addresses, authenticated names, and combinations of these")
	})
}

// never reports a matcher of metadata, which a server of gRPC does not have.
func (r rbac) never(at graph.At, inverted bool) []Fault {
	match := "never"
	if inverted {
		match = "always"
	}
	return r.ifBuilt(func() []Fault {
		return accepted(at, Ignores, "gRPC has no dynamic metadata: this "+match+" matches", "takes the matcher as one that "+match+" matches", "match headers or addresses instead")
	})
}

// serverName checks a matcher of the server name, which a server of gRPC takes for empty (newRequestedServerNameMatcher).
func (r rbac) serverName(at graph.At, m *matcherv3.StringMatcher) []Fault {
	return r.ifBuilt(func() []Fault {
		if faults := r.text(at, m); faults != nil {
			return faults
		}
		if MatchesText(m, "") {
			return nil
		}
		return accepted(at, Ignores, "gRPC does not see server names: this never matches", "takes the matcher as one that never matches", "match the header :authority instead")
	})
}

// header checks a matcher of a header, in all policies (normalizeHeaderMatcher, newHeaderMatcher).
func (r rbac) header(at graph.At, h *routev3.HeaderMatcher) []Fault {
	switch name := strings.ToLower(h.GetName()); {
	case name == ":scheme":
		return rejected(at.Field("name"), "RBAC of gRPC does not match the header :scheme", `is ":scheme"`, "remove the matcher")
	case strings.HasPrefix(name, "grpc-"):
		return rejected(at.Field("name"), fmt.Sprintf("RBAC of gRPC does not match the header %s", h.GetName()), `starts with "grpc-"`, "remove the matcher: gRPC uses headers that begin with grpc- itself")
	}
	return r.ifBuilt(func() []Fault {
		switch m := h.GetHeaderMatchSpecifier().(type) {
		case *routev3.HeaderMatcher_SafeRegexMatch: //nolint:staticcheck // deprecated, and in use
			return r.pattern(at.Field("safe_regex_match", "regex"), m.SafeRegexMatch.GetRegex())
		case *routev3.HeaderMatcher_StringMatch:
			return r.text(at.Field("string_match"), m.StringMatch)
		case nil:
			return rejected(at, "a header matcher says only a name", "unknown header matcher type", "to match any value, write present_match: true")
		}
		return missingAsEmpty(at, h)
	})
}

// address checks a range of addresses (newRemoteIPMatcher, newLocalIPMatcher).
func (r rbac) address(at graph.At, cidr *corev3.CidrRange) []Fault {
	return r.ifBuilt(func() []Fault {
		text := fmt.Sprintf("%s/%d", cidr.GetAddressPrefix(), cidr.GetPrefixLen().GetValue())
		if _, err := netip.ParsePrefix(text); err == nil {
			return nil
		}
		return rejected(at, fmt.Sprintf("%s is not a range of addresses", text), "unable to parse", "write an IP address and a length of at most 32 or 128")
	})
}

// auditLoggers checks the loggers of an audit (buildLogger, gRFC A59). Java does not have them.
func (c Client) auditLoggers(at graph.At, o *rbacconfigv3.RBAC_AuditLoggingOptions) (all []Fault) {
	if c.is(Java) {
		return nil
	}
	for i, l := range o.GetLoggerConfigs() {
		at := at.Item("logger_configs", i).Field("audit_logger", "typed_config")
		any := l.GetAuditLogger().GetTypedConfig()
		switch m := at.Content(any).(type) {
		case *xdsv3.TypedStruct:
			all = append(all, c.auditLogger(at, lastPart(m.GetTypeUrl()), l.GetIsOptional())...)
		case *udpav1.TypedStruct:
			all = append(all, c.auditLogger(at, lastPart(m.GetTypeUrl()), l.GetIsOptional())...)
		default:
			if !c.has(auditLoggers, typeName(any)) {
				all = append(all, rejected(at, "gRPC does not have this audit logger", "custom config not implemented for type", "write the logger to standard output, or a TypedStruct with the name of a logger of the program")...)
			}
		}
	}
	return all
}

func (c Client) auditLogger(at graph.At, name string, optional bool) []Fault {
	if optional || name == "stdout_logger" {
		return nil
	}
	return rejected(at, fmt.Sprintf("gRPC does not have the audit logger %q", name), "no builder registered for", "register it in the program, or set is_optional: true")
}

// lastPart returns what follows the last slash of a type URL.
func lastPart(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }
