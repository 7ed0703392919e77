package check

import (
	"net/netip"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
)

// PublicName returns the name that all endpoints of a cluster have, if it is one of the public DNS. Otherwise, it is empty.
func PublicName(c *clusterv3.Cluster) (name string) {
	for _, locality := range c.GetLoadAssignment().GetEndpoints() {
		for _, e := range locality.GetLbEndpoints() {
			host := strings.TrimSuffix(e.GetEndpoint().GetAddress().GetSocketAddress().GetAddress(), ".")
			if !public(host) || name != "" && host != name {
				return ""
			}
			name = host
		}
	}
	return name
}

// private are the ends of names that are used inside of a network.
var private = []string{".local", ".localhost", ".internal", ".svc", ".lan", ".test", ".consul"}

func public(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") {
		return false
	}
	for _, end := range private {
		if strings.HasSuffix(host, end) {
			return false
		}
	}
	return true
}
