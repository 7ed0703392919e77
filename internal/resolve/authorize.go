package resolve

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/grpc"
)

// authorize returns the message with which RBAC rejects the RPC, or "" (rbac.ChainEngine.IsAuthorized, gRFC A41).
func (s *serving) authorize(rules *rbacv3.RBAC) string {
	if rules == nil || rules.GetAction() == rbacv3.RBAC_LOG {
		return ""
	}
	var matched []string
	for _, name := range slices.Sorted(maps.Keys(rules.GetPolicies())) {
		p := rules.GetPolicies()[name]
		if slices.ContainsFunc(p.GetPermissions(), s.permits) && slices.ContainsFunc(p.GetPrincipals(), s.identifies) {
			matched = append(matched, name)
		}
	}
	switch {
	case rules.GetAction() == rbacv3.RBAC_ALLOW && matched == nil:
		return "incoming RPC did not match an allow policy"
	case rules.GetAction() == rbacv3.RBAC_DENY && len(matched) == 1:
		return fmt.Sprintf("incoming RPC matched a deny policy %q", matched[0])
	case rules.GetAction() == rbacv3.RBAC_DENY && matched != nil:
		return "incoming RPC matched a deny policy" // one of them, by chance
	}
	return ""
}

func (s *serving) permits(p *rbacv3.Permission) bool {
	switch m := p.GetRule().(type) {
	case *rbacv3.Permission_AndRules:
		return !slices.ContainsFunc(m.AndRules.GetRules(), func(p *rbacv3.Permission) bool { return !s.permits(p) })
	case *rbacv3.Permission_OrRules:
		return slices.ContainsFunc(m.OrRules.GetRules(), s.permits)
	case *rbacv3.Permission_NotRule:
		return !s.permits(m.NotRule)
	case *rbacv3.Permission_Any:
		return true
	case *rbacv3.Permission_Header:
		return s.header(m.Header)
	case *rbacv3.Permission_UrlPath:
		return grpc.MatchesText(m.UrlPath.GetPath(), s.rpc.Method)
	case *rbacv3.Permission_DestinationIp:
		return s.within(m.DestinationIp, s.conn.Destination, errNoDestination)
	case *rbacv3.Permission_DestinationPort:
		return s.port == m.DestinationPort
	case *rbacv3.Permission_Metadata:
		return m.Metadata.GetInvert()
	case *rbacv3.Permission_RequestedServerName:
		return grpc.MatchesText(m.RequestedServerName, "")
	}
	return false
}

func (s *serving) identifies(p *rbacv3.Principal) bool {
	switch m := p.GetIdentifier().(type) {
	case *rbacv3.Principal_AndIds:
		return !slices.ContainsFunc(m.AndIds.GetIds(), func(p *rbacv3.Principal) bool { return !s.identifies(p) })
	case *rbacv3.Principal_OrIds:
		return slices.ContainsFunc(m.OrIds.GetIds(), s.identifies)
	case *rbacv3.Principal_NotId:
		return !s.identifies(m.NotId)
	case *rbacv3.Principal_Any:
		return true
	case *rbacv3.Principal_Authenticated_:
		return s.authenticated(m.Authenticated.GetPrincipalName())
	case *rbacv3.Principal_DirectRemoteIp:
		return s.within(m.DirectRemoteIp, s.conn.Source.Addr(), errNoSource)
	case *rbacv3.Principal_RemoteIp:
		return s.within(m.RemoteIp, s.conn.Source.Addr(), errNoSource)
	case *rbacv3.Principal_SourceIp: //nolint:staticcheck // deprecated, and in use
		return s.within(m.SourceIp, s.conn.Source.Addr(), errNoSource)
	case *rbacv3.Principal_Header:
		return s.header(m.Header)
	case *rbacv3.Principal_UrlPath:
		return grpc.MatchesText(m.UrlPath.GetPath(), s.rpc.Method)
	case *rbacv3.Principal_Metadata: //nolint:staticcheck // deprecated, and in use
		return m.Metadata.GetInvert()
	}
	return false
}

// header reports whether a header fits. RBAC sees the path and the method too, and host under the name :authority (normalizeHeaderMatcher,
// newRPCData).
func (s *serving) header(h *routev3.HeaderMatcher) bool {
	if strings.EqualFold(h.GetName(), "host") {
		h = proto.CloneOf(h)
		h.Name = ":authority"
	}
	all := maps.Clone(s.metadata)
	all[":path"], all[":method"] = []string{s.rpc.Method}, []string{"POST"}
	return grpc.MatchesHeader(h, all)
}

// within reports whether an address is in a range. If the address is not given, the answer lacks it.
func (s *serving) within(cidr *corev3.CidrRange, a netip.Addr, lacking error) bool {
	if !a.IsValid() {
		s.lacks = lacking
		return false
	}
	prefix, err := netip.ParsePrefix(fmt.Sprintf("%s/%d", cidr.GetAddressPrefix(), cidr.GetPrefixLen().GetValue()))
	return err == nil && prefix.Masked().Contains(a)
}

// authenticated reports whether the certificate of a client has a name (authenticatedMatcher.match). Without TLS, no client is authenticated.
func (s *serving) authenticated(name *matcherv3.StringMatcher) bool {
	return s.tls != nil && (name == nil || grpc.MatchesText(name, s.rpc.ClientCert))
}
