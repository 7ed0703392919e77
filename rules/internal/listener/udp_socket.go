package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "udp-socket",
	Severity: lint.Error,
	Summary:  "a UDP listener does not bind, or its workers would share one socket",
	Links:    []string{"ListenerImpl::buildUdpListenerFactory (source/common/listener_manager/listener_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if !overUDP(l) {
			return
		}
		if unbound, ok := unboundBy(at, l); ok && !p.Target.Before("1.40") {
			p.Reject(unbound, lint.Rejection{
				Message:  "a UDP listener must bind",
				Help:     "remove bind_to_port",
				Upstream: "bind_to_port: false is not supported for UDP listeners",
			})
			return
		}
		if l.GetEnableReusePort() != nil && !l.GetEnableReusePort().GetValue() {
			p.Report(at.Field("enable_reuse_port"), lint.Diagnostic{
				Severity: lint.Warning,
				Message:  "the workers of a UDP listener cannot share one socket",
				Notes:    []string{"Envoy rejects the listener if it runs more than one worker; the default is one for each core"},
				Help:     "remove enable_reuse_port",
				Upstream: "Listening on UDP when concurrency is > 1 without the SO_REUSEPORT socket option results in unstable packet proxying",
			})
		}
	}),
})

// unboundBy returns the field that keeps a listener from binding.
func unboundBy(at lint.At, l *listenerv3.Listener) (lint.At, bool) {
	if l.GetBindToPort() != nil && !l.GetBindToPort().GetValue() {
		return at.Field("bind_to_port"), true
	}
	old := l.GetDeprecatedV1().GetBindToPort() //nolint:staticcheck // Envoy reads it
	return at.Field("deprecated_v1", "bind_to_port"), old != nil && !old.GetValue()
}
