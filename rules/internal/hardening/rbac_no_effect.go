package hardening

import (
	"fmt"
	"maps"
	"slices"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

// rbacFilter is an RBAC filter for HTTP or for connections.
type rbacFilter interface {
	GetRules() *rbacv3.RBAC
	GetShadowRules() *rbacv3.RBAC
}

var _ = Rules.Add(&lint.Rule{
	Name:     "rbac-no-effect",
	Severity: lint.Info,
	Summary:  "an RBAC filter rejects nothing",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/rbac/v3/rbac.proto"},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		filter := m.Interface().(rbacFilter)
		rules := filter.GetRules()
		if !envoy.OuterRead(p.Target.Extensions(), at.Place) {
			return
		}
		switch {
		case rules == nil && filter.GetShadowRules() != nil && !m.Has(m.Descriptor().Fields().ByName("matcher")):
			p.Report(at.Field("shadow_rules"), lint.Diagnostic{
				Message: "shadow_rules reject nothing, and there are no rules",
				Notes:   []string{"Envoy only counts and logs what they would reject"},
				Help:    "move them to rules when the counters are as expected",
			})
		case rules.GetAction() == rbacv3.RBAC_ALLOW:
			reportUseless(p, at, rules)
		case rules.GetAction() == rbacv3.RBAC_DENY && len(rules.GetPolicies()) == 0:
			p.Report(at.Field("rules"), lint.Diagnostic{
				Message: "DENY without policies rejects nothing",
				Help:    "list what is to be rejected in policies",
			})
		}
	}, nameOf(&httprbacv3.RBAC{}), nameOf(&networkrbacv3.RBAC{})),
})

// reportUseless reports a policy that allows everything. Next to others, which it makes useless, that is probably not meant.
func reportUseless(p *lint.Pass, at lint.At, rules *rbacv3.RBAC) {
	for _, name := range slices.Sorted(maps.Keys(rules.GetPolicies())) {
		if !allowsAll(rules.GetPolicies()[name]) {
			continue
		}
		d := lint.Diagnostic{
			Message: fmt.Sprintf("policy %q allows everything", name),
			Notes:   []string{"Envoy allows what any of the policies allows"},
			Help:    "restrict the permissions or the principals of the policy, or remove the filter",
		}
		if len(rules.GetPolicies()) > 1 {
			d.Severity = lint.Warning
			d.Message += ", so the others have no effect"
		}
		p.Report(at.Field("rules").Entry("policies", name), d)
		return
	}
}

// allowsAll reports whether a policy matches every request.
func allowsAll(m *rbacv3.Policy) bool {
	return m.GetCondition() == nil && m.GetCheckedCondition() == nil &&
		slices.ContainsFunc(m.GetPermissions(), (*rbacv3.Permission).GetAny) && slices.ContainsFunc(m.GetPrincipals(), (*rbacv3.Principal).GetAny)
}
