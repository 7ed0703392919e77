package transition

import (
	"fmt"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// order returns the help for a cluster that must be pushed before what uses it.
func order(p *lint.Pass) string {
	until := "wait until Envoy ACKs CDS (it withholds the ACK while the cluster warms)"
	if !p.Push.Transport.ADS() {
		until = "wait until it is warm (without ADS, the ACK of CDS does not show that)"
	}
	return "push the cluster and " + until + ", then push what uses it: `xdslint plan` gives the order"
}

// whose describes the traffic that uses a reference: requests for shop.example.com/cart* at listener "edge".
func whose(t *envoy.Traffic, e *graph.Edge) string {
	what := fmt.Sprintf("traffic of %s %q", spoken(e.From.Kind), e.From.Name)
	if host, where := graph.Around[*routev3.VirtualHost](e.Place); where != nil {
		what = "requests for " + hosts(host.GetDomains())
		if route, where := graph.Around[*routev3.Route](e.Place); where != nil {
			what += path(route.GetMatch())
		}
	} else if filter, where := graph.Around[*hcmv3.HttpFilter](e.Place); where != nil {
		what = fmt.Sprintf("requests that pass the HTTP filter %q", filter.GetName())
	} else if e.From.Kind == graph.Cluster {
		what = fmt.Sprintf("requests for cluster %q", e.From.Name)
	} else if e.From.Kind == graph.Listener {
		what = "connections"
	}
	var names []string
	for _, entry := range t.Entries(e.From) {
		if name := fmt.Sprintf("%q", entry.Resource.Name); entry.Resource.Kind == graph.Listener && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return what
	case 1:
		return what + " at listener " + names[0]
	}
	return fmt.Sprintf("%s at listener %s%s", what, names[0], andMore(len(names)-1, "other", "others"))
}

func hosts(domains []string) string {
	if len(domains) == 0 || len(domains) == 1 && domains[0] == "*" {
		return "any host"
	}
	return domains[0] + andMore(len(domains)-1, "more", "more")
}

// path returns what a route matches in a readable form; empty if it matches all paths.
func path(m *routev3.RouteMatch) string {
	switch by := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		if by.Prefix != "/" && by.Prefix != "" {
			return ", " + by.Prefix + "*"
		}
		return ""
	case *routev3.RouteMatch_Path:
		return ", " + by.Path
	case *routev3.RouteMatch_PathSeparatedPrefix:
		return ", " + by.PathSeparatedPrefix + "/*"
	case *routev3.RouteMatch_SafeRegex:
		return ", ~" + by.SafeRegex.GetRegex()
	}
	return ""
}

// andMore returns the end of a list: " and 2 more".
func andMore(n int, one, several string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " and 1 " + one
	}
	return fmt.Sprintf(" and %d %s", n, several)
}

// placesMore returns a note if a finding is about several places.
func placesMore(n int) []string {
	switch n {
	case 0:
		return nil
	case 1:
		return []string{"1 more place refers to it"}
	}
	return []string{fmt.Sprintf("%d more places refer to it", n)}
}

// spoken returns a kind in plain words.
func spoken(kind graph.Kind) string { return strings.ReplaceAll(string(kind), "_", " ") }
