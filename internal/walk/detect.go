package walk

import (
	"net/netip"
	"strings"

	customheaderv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/http/original_ip_detection/custom_header/v3"
	xffv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/http/original_ip_detection/xff/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
)

const detectionFailed = "rejecting_because_detection_failed"

// detect finds the client's address by extensions. The first one that finds it decides.
func (j *journey) detect() bool {
	for i, e := range j.manager.message.GetOriginalIpDetectionExtensions() {
		at := j.manager.at.Item("original_ip_detection_extensions", i)
		content, _ := envoy.Content(at.Field("typed_config"), e.GetTypedConfig())
		found, ok := netip.Addr{}, false
		switch c := content.(type) {
		case *xffv3.XffConfig:
			found, j.conn.trusted, ok = j.forwardedFor(c)
		case *customheaderv3.CustomHeaderConfig:
			found, ok = j.addressIn(c.GetHeaderName())
			j.conn.trusted = ok && c.GetAllowExtensionToSetAddressAsTrusted()
			if !ok && c.GetRejectWithStatus() != nil {
				return j.replies(statusOr(int(c.GetRejectWithStatus().GetCode()), 403), detectionFailed)
			}
		default:
			ok = true // it may find any address, or none
		}
		if ok {
			j.conn.Source = netip.AddrPortFrom(found, j.conn.Source.Port())
			return true
		}
	}
	return true
}

func (j *journey) addressIn(header string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(j.first(header))
	return a, err == nil
}

// statusOr returns a status if it can be one of an error.
func statusOr(status, otherwise int) int {
	if status < 400 || status > 511 {
		return otherwise
	}
	return status
}

// forwardedFor follows XffIPDetection::detect.
func (j *journey) forwardedFor(c *xffv3.XffConfig) (a netip.Addr, single, ok bool) {
	all, has := j.headers.get("x-forwarded-for")
	trusted := c.GetXffTrustedCidrs().GetCidrs()
	switch {
	case c.GetXffTrustedCidrs() == nil:
		return lastAddress(all, c.GetXffNumTrustedHops())
	case !has:
		return a, false, false
	case !j.conn.known():
		return a, false, true
	case !within(trusted, j.conn.Source.Addr()):
		return a, false, false
	}
	list := strings.Split(all, ",")
	for i := len(list) - 1; i >= 0; i-- {
		found, err := netip.ParseAddr(strings.TrimSpace(list[i]))
		if err != nil {
			return a, false, false
		}
		if a = found; !within(trusted, a) {
			break
		}
	}
	return a, false, true
}
