package walk

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/ascii"
)

const (
	badNomination = "http1.connection_header_rejected"
	noBody        = "http1.body_disallowed"
)

// nominated follows ConnectionImpl::onHeadersCompleteImpl and Utility::sanitizeConnectionHeader: it removes upgrades that the codec ignores, and the
// headers that the connection header names.
func (j *journey) nominated() bool {
	h := j.headers
	if isUpgrade(h) {
		j.ignoreUpgrades()
	}
	if j.request.Method == "CONNECT" {
		if length, has := h.get(contentLength); has && length != "0" {
			return j.breaks(false, noBody)
		}
		h.remove(contentLength)
	}
	if !j.transfers() {
		return false
	}
	all, has := h.get("connection")
	if !has || isUpgrade(h) || j.request.Method == "CONNECT" {
		return true
	}
	tokens := strings.FieldsFunc(all, func(r rune) bool { return r == ',' })
	if len(tokens) >= 10 {
		return j.breaks(false, badNomination)
	}
	for _, token := range tokens {
		name := ascii.Lower(strings.TrimSpace(token))
		switch {
		case slices.Contains([]string{"close", "http2-settings", "keep-alive", "upgrade", "connection"}, name):
		case slices.Contains([]string{"x-forwarded-for", "x-forwarded-host", forwardedProto}, name), strings.HasPrefix(name, ":"):
			return j.breaks(false, badNomination)
		case name == "te" && len(h.value("te")) >= 256:
			return j.breaks(false, badNomination)
		case name == "te" && hasToken(h.value("te"), "trailers"):
			h.set("te", "trailers")
		default:
			h.remove(name)
		}
	}
	return true
}

// ignoreUpgrades removes an upgrade to h2c, or those that ignore_http_11_upgrade names.
func (j *journey) ignoreUpgrades() {
	h := j.headers
	var left []string
	if !strings.EqualFold(h.value("upgrade"), "h2c") {
		ignored := j.manager.message.GetHttpProtocolOptions().GetIgnoreHttp_11Upgrade()
		for token := range strings.SplitSeq(h.value("upgrade"), ",") {
			token = strings.TrimSpace(token)
			fits := match.No
			for _, m := range ignored {
				fits = max(fits, j.fitsText(m, token))
			}
			if fits != match.Yes {
				left = append(left, token)
			}
		}
		if len(ignored) == 0 {
			return
		}
	}
	if len(left) > 0 {
		h.set("upgrade", strings.Join(left, ","))
		return
	}
	h.remove("upgrade", "http2-settings")
	h.set("connection", strings.Join(slices.DeleteFunc(strings.Split(h.value("connection"), ","), func(token string) bool {
		return slices.Contains([]string{"upgrade", "http2-settings"}, ascii.Lower(strings.TrimSpace(token)))
	}), ","))
}

// rewriteDatagrams follows HeaderUtility::rewriteAuthorityForConnectUdp: the path of an upgrade to connect-udp has the host. It reports whether it does.
func (j *journey) rewriteDatagrams(p string) bool {
	if !strings.EqualFold(j.headers.value("upgrade"), "connect-udp") {
		return true
	}
	rest, ok := strings.CutPrefix(p, "/.well-known/masque/udp/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] != "" || strings.ContainsFunc(p, func(r rune) bool { return r < '!' || r > '~' }) {
		return false
	}
	name := unescape(parts[0])
	if a, err := netip.ParseAddr(name); err == nil && a.Is6() {
		name = "[" + name + "]"
	}
	j.headers.set(authority, name+":"+unescape(parts[1]))
	return !strings.Contains(name, "%")
}

// protocol returns what an extended CONNECT request of HTTP/2 asks for: its first header is :protocol.
func (r *Request) protocol() string {
	if r.HTTP == "2" && len(r.Headers) > 0 && r.Headers[0][0] == ":protocol" {
		return r.Headers[0][1]
	}
	return ""
}

// extended follows Utility::transformUpgradeRequestFromH2toH1: the connection manager sees an extended CONNECT request as an upgrade of HTTP/1.
func (j *journey) extended(wanted string) {
	j.headers.set(method, "GET")
	j.headers.set("upgrade", wanted)
	j.headers.set("connection", "upgrade")
}

// hostsOf joins the hosts that HTTP/1 has in several headers.
func hostsOf(first *string, others []string) (string, bool) {
	if first != nil {
		others = append([]string{*first}, others...)
	}
	return strings.Join(others, ","), len(others) > 0
}

// hopByHop are headers that HTTP/2 does not have.
var hopByHop = []string{"connection", "keep-alive", "proxy-connection", transferEncoding, "upgrade"}

// fits2 follows the validation of headers in HTTP/2 (quiche::HeaderValidator).
func (j *journey) fits2() bool {
	h := j.headers
	te, hasTE := h.get("te")
	length, hasLength := h.get(contentLength)
	switch {
	case slices.ContainsFunc(hopByHop, h.has), hasTE && !strings.EqualFold(te, "trailers"):
		return false
	case hasLength && length != strconv.Itoa(j.request.BodyBytes):
		return false
	}
	return validName(ascii.Lower(j.request.Method)) && only(h.value(authority), "-._~%!$&'()[]*+,;=:") && only(h.value(scheme), "+-.")
}

// only reports whether a text has only letters, digits and some other characters.
func only(text, others string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune(others, r))
	})
}
