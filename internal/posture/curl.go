package posture

import (
	"maps"
	"net"
	"slices"
	"strconv"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/internal/walk"
)

// Curl returns a command that sends the request as it is, with the certificate of a client where one is required.
func (w Way) Curl() string {
	sent := *w.Sent
	sent.ClientCert.Presented = slices.ContainsFunc(w.Guards, func(g walk.Guard) bool { return g.Kind == walk.MTLS && g.State.Holds() })
	own := w.At.Resource().Message.(*listenerv3.Listener).GetAddress().GetSocketAddress()
	return sent.Curl(net.JoinHostPort(own.GetAddress(), strconv.Itoa(int(own.GetPortValue()))), slices.Collect(maps.Keys(w.matchers.Headers))...)
}
