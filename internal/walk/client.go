package walk

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
)

// forwarded sets the headers about the client, and reports whether the request is internal.
func (j *journey) forwarded() (internal bool) {
	m, h := j.manager.message, j.headers
	before, has := h.get("x-forwarded-for")
	trusted := j.conn.Source.Addr()
	single := false
	if m.GetUseRemoteAddress().GetValue() {
		single = !has
		if hops := m.GetXffNumTrustedHops(); hops > 0 {
			if a, _, ok := lastAddress(before, hops-1); ok {
				trusted = a
			}
		}
		if !m.GetSkipXffAppend() && j.conn.known() {
			all := j.conn.Source.Addr().String()
			if has {
				all = before + "," + all
			}
			h.set("x-forwarded-for", all)
			j.local = j.conn.Source.Addr().IsLoopback()
			delete(h.changed, "x-forwarded-for") // what was done to it before does not show
		}
		if m.GetXffNumTrustedHops() == 0 || !h.has(forwardedProto) {
			h.set(forwardedProto, j.proto())
		}
		if m.GetXffNumTrustedHops() == 0 {
			j.forwardPort()
		}
	} else if len(m.GetOriginalIpDetectionExtensions()) > 0 {
		single = j.conn.trusted
	} else if a, only, ok := lastAddress(before, m.GetXffNumTrustedHops()); ok {
		trusted, single = a, only
	}
	if !h.has(forwardedProto) {
		h.set(forwardedProto, j.proto())
	}
	if !h.has(forwardedPort) {
		j.forwardPort()
	}
	j.conn.Source = netip.AddrPortFrom(trusted, j.conn.Source.Port())
	ranges := m.GetInternalAddressConfig().GetCidrRanges()
	j.conn.anywhere = single && len(ranges) > 0 && !trusted.IsValid()
	return single && within(ranges, trusted)
}

const forwardedPort = "x-forwarded-port"

// forwardPort says to which port the client connects, if the configuration wants that.
func (j *journey) forwardPort() {
	if j.manager.message.GetAppendXForwardedPort() {
		j.headers.change(forwardedPort)
		j.headers.set(forwardedPort, strconv.Itoa(int(j.conn.Destination.Port())))
	}
}

// introduce adds what the connection manager says about itself and about the certificate of the client (mutateXfccRequestHeader).
func (j *journey) introduce() {
	m, h := j.manager.message, j.headers
	if m.GetAddUserAgent().GetValue() {
		names := []string{"x-envoy-downstream-service-cluster", "x-envoy-downstream-service-node"}
		if h.value("user-agent") == "" {
			names = append(names, "user-agent")
		}
		for _, name := range names {
			j.answer.doubt("added."+name, "it is the node of Envoy")
		}
	}
	j.pass(h)
	const certificate = "x-forwarded-client-cert"
	switch of := m.GetForwardClientCertDetails(); {
	case of == hcmv3.HttpConnectionManager_ALWAYS_FORWARD_ONLY:
	case of == hcmv3.HttpConnectionManager_SANITIZE, !j.conn.presented:
		h.remove(certificate)
	case of == hcmv3.HttpConnectionManager_FORWARD_ONLY:
	default:
		j.answer.doubt("added."+certificate, "it has the digest of the client's certificate")
	}
}

// pass notes in via that a message has passed the connection manager.
func (j *journey) pass(h *headers) {
	if via := j.manager.message.GetVia(); via != "" {
		h.change("via")
		h.set("via", strings.TrimPrefix(h.value("via")+", "+via, ", "))
	}
}

// validReferer follows Utility::isValidRefererValue.
func validReferer(text string) bool {
	if _, _, rest, ok := splitURL(text); ok {
		return !strings.Contains(text, "@") && !strings.Contains(rest, "#")
	}
	slash := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == ':' && !slash:
			return false
		case c == '/':
			slash = true
		case !isUnreserved(c) && !strings.ContainsRune("!$%&'()*+,;:=@?", rune(c)):
			return false
		}
	}
	return true
}

// proto returns the scheme of the connection. Where the PROXY protocol says the destination, the connection manager can give its ports a scheme.
func (j *journey) proto() string {
	said := j.manager.message.GetForwardProtoConfig()
	port := uint32(j.conn.Destination.Port())
	switch {
	case j.conn.proxied && slices.Contains(said.GetHttpsDestinationPorts(), port):
		return "https"
	case j.conn.proxied && slices.Contains(said.GetHttpDestinationPorts(), port):
		return "http"
	}
	return schemeOf(j.conn.tls)
}

// lastAddress follows Utility::getLastAddressFromXFF: the address before some hops, and whether it is the only one.
func lastAddress(all string, hops uint32) (last netip.Addr, single, ok bool) {
	list := strings.Split(all, ",")
	if int(hops) >= len(list) {
		return last, false, false
	}
	last, err := netip.ParseAddr(strings.TrimSpace(list[len(list)-1-int(hops)]))
	return last, len(list) == 1, err == nil
}

// within reports whether an address is in one of some networks.
func within(ranges []*corev3.CidrRange, a netip.Addr) bool {
	for _, r := range ranges {
		base, err := netip.ParseAddr(r.GetAddressPrefix())
		if err != nil {
			continue
		}
		network, err := base.Prefix(int(r.GetPrefixLen().GetValue()))
		if err == nil && network.Contains(a) {
			return true
		}
	}
	return false
}
