package hardening

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	xffv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/http/original_ip_detection/xff/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "xff-trust",
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Info},
	Summary:  "an edge proxy takes the address of its clients from x-forwarded-for: right only if proxies are in front of it",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/headers#x-forwarded-for",
		"https://github.com/envoyproxy/envoy/issues/34241",
	},
	Run: eachManager(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		if hops := m.GetXffNumTrustedHops(); hops > 0 && m.GetUseRemoteAddress().GetValue() {
			trustsHops(p, at.Field("xff_num_trusted_hops"), hops)
		}
		for i, e := range m.GetOriginalIpDetectionExtensions() {
			config, own := envoy.Content(at.Item("original_ip_detection_extensions", i).Field("typed_config"), e.GetTypedConfig())
			x, is := config.(*xffv3.XffConfig)
			if !is {
				continue
			}
			if x.GetXffNumTrustedHops() > 0 {
				trustsHops(p, own.Field("xff_num_trusted_hops"), x.GetXffNumTrustedHops())
			}
			for i, cidr := range x.GetXffTrustedCidrs().GetCidrs() {
				if everyone(cidr) {
					trustsEveryone(p, own.Field("xff_trusted_cidrs").Item("cidrs", i))
				}
			}
		}
	}),
})

func trustsHops(p *lint.Pass, at lint.At, hops uint32) {
	who := "connects directly"
	if hops > 1 {
		who = fmt.Sprintf("comes through fewer than %d proxies", hops)
	}
	p.Report(at, lint.Diagnostic{
		Message: fmt.Sprintf("a client that %s states its own address", who),
		Notes:   []string{"Envoy counts addresses in x-forwarded-for from the right: the client wrote the one that it takes"},
		Help:    "count the proxies that append to x-forwarded-for, and let only them connect",
	})
}

func trustsEveryone(p *lint.Pass, at lint.At) {
	p.Report(at, lint.Diagnostic{
		Severity: lint.Warning,
		Message:  "all addresses are trusted, so each client states its own address",
		Notes:    []string{"Envoy takes the rightmost address in x-forwarded-for that is not trusted, and otherwise the first one"},
		Help:     "list the addresses of the proxies in front",
	})
}

// everyone reports whether a range holds all addresses.
func everyone(r *corev3.CidrRange) bool {
	_, valid := envoy.ParseIP(r.GetAddressPrefix())
	return valid && r.GetPrefixLen().GetValue() == 0
}
