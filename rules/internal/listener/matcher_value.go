package listener

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "matcher-value",
	Severity: lint.Error,
	Summary:  "a filter_chain_matcher has an invalid address or domain",
	Links:    []string{"FilterChainManagerImpl::maybeConstructMatcher (source/common/listener_manager/filter_chain_manager_impl.cc)"},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		switch m.Descriptor().FullName() {
		case "xds.core.v3.CidrRange", "envoy.config.core.v3.CidrRange":
			if fd := envoy.FieldOf(at.Place); fd != nil && ranges[fd.FullName()] && inMatcher(at) {
				checkIP(p, at.Field("address_prefix"), m.Get(m.Descriptor().Fields().ByName("address_prefix")).String())
			}
		case "xds.type.matcher.v3.ServerNameMatcher":
			if inMatcher(at) {
				checkDomains(p, at, m)
			}
		}
	}, "xds.core.v3.CidrRange", "envoy.config.core.v3.CidrRange", "xds.type.matcher.v3.ServerNameMatcher"),
})

// ranges lists the fields whose ranges Envoy reads when it builds the matcher.
var ranges = map[protoreflect.FullName]bool{
	"xds.type.matcher.v3.IPMatcher.IPRangeMatcher.ranges":           true,
	"envoy.extensions.matching.input_matchers.ip.v3.Ip.cidr_ranges": true,
}

func checkDomains(p *lint.Pass, at lint.At, m protoreflect.Message) {
	first := map[string]lint.At{}
	matchers := m.Get(m.Descriptor().Fields().ByName("domain_matchers")).List()
	for i := range matchers.Len() {
		matcher := matchers.Get(i).Message()
		domains := matcher.Get(matcher.Descriptor().Fields().ByName("domains")).List()
		for j := range domains.Len() {
			domain, own := domains.Get(j).String(), at.Item("domain_matchers", i).Item("domains", j)
			before, twice := first[domain]
			switch {
			case domain == "":
				p.Reject(own, lint.Rejection{
					Message:  "the domain is empty",
					Help:     "write a name, or * for all",
					Upstream: "Empty domain in ServerNameMatcher",
				})
			case wrongWildcard(domain):
				p.Reject(own, lint.Rejection{
					Message:  fmt.Sprintf("%q is not a domain or wildcard", domain),
					Help:     "write a wildcard as * alone, or as *. and the rest of the name",
					Upstream: fmt.Sprintf("Invalid wildcard domain format: %s", domain),
				})
			case twice:
				p.Reject(own, lint.Rejection{
					Message:  fmt.Sprintf("duplicate domain %q", domain),
					Help:     "keep one of them",
					Upstream: "Duplicate domain in ServerNameMatcher: " + domain,
					Related:  []lint.Related{lint.RelatedTo(before, "the first one")},
				})
			default:
				first[domain] = own
			}
		}
	}
}

func wrongWildcard(domain string) bool {
	if domain == "*" {
		return false
	}
	rest := strings.TrimPrefix(domain, "*.")
	return rest == "" || strings.Contains(rest, "*")
}
