package listener

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "internal-listener-config",
	Severity: lint.Error,
	Summary:  "an internal listener has settings of one with a socket, or the other way round",
	Links:    []string{"ListenerImpl::buildInternalListener (source/common/listener_manager/listener_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if l.GetInternalListener() == nil {
			internalAddress(p, at, l)
			return
		}
		address := "address"
		if l.GetAddress() == nil {
			address = "additional_addresses"
		}
		if l.GetAddress() != nil || len(l.GetAdditionalAddresses()) > 0 {
			p.Report(at.Field(address).Key(), lint.Diagnostic{
				Message:  "an internal listener cannot have an address: its name is its address",
				Notes:    []string{envoy.OnReject(at.Resource())},
				Help:     fmt.Sprintf("remove %s, or remove internal_listener to give it a socket", address),
				Rejected: true, Upstream: "address should not be used when an internal listener config is provided",
			})
		}
		for _, f := range socketFields(l) {
			if f.is {
				p.Report(at.Field(f.name).Key(), lint.Diagnostic{
					Message:  fmt.Sprintf("an internal listener cannot have %s: it has no socket", f.name),
					Notes:    []string{envoy.OnReject(at.Resource())},
					Help:     "remove " + f.name,
					Rejected: true, Upstream: f.upstream,
				})
			}
		}
	}),
})

func internalAddress(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
	d := lint.Diagnostic{
		Message:  "an internal listener is declared by internal_listener, not by its address",
		Notes:    []string{envoy.OnReject(at.Resource())},
		Help:     "write internal_listener: {} instead of the address; endpoints refer to it by name",
		Rejected: true, Upstream: "use internal_listener field instead of address for internal listeners",
	}
	if l.GetAddress().GetEnvoyInternalAddress() != nil {
		p.Report(at.Field("address", "envoy_internal_address").Key(), d)
	}
	for i, a := range l.GetAdditionalAddresses() {
		if a.GetAddress().GetEnvoyInternalAddress() != nil {
			p.Report(at.Item("additional_addresses", i).Field("address", "envoy_internal_address").Key(), d)
		}
	}
}

type socketField struct {
	name     string
	is       bool
	upstream string
}

func socketFields(l *listenerv3.Listener) []socketField {
	const feature = "has unsupported tcp listener feature"
	return []socketField{
		{"connection_balance_config", l.GetConnectionBalanceConfig().GetExactBalance() != nil, feature},
		{"enable_mptcp", l.GetEnableMptcp(), feature},
		{"enable_reuse_port", l.GetEnableReusePort() != nil, feature},
		{"freebind", l.GetFreebind().GetValue(), feature},
		{"tcp_backlog_size", l.GetTcpBacklogSize() != nil, feature},
		{"tcp_fast_open_queue_length", l.GetTcpFastOpenQueueLength() != nil, feature},
		{"transparent", l.GetTransparent().GetValue(), feature},
		{"socket_options", len(l.GetSocketOptions()) > 0, "does not support socket option"},
	}
}
