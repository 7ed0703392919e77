package listener

import (
	"fmt"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "balance-unknown",
	Severity: lint.Error,
	Summary:  "a listener balances its connections with an extension that Envoy does not have",
	Links:    []string{"ListenerImpl::buildConnectionBalancer (source/common/listener_manager/listener_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		extension := l.GetConnectionBalanceConfig().GetExtendBalance()
		if extension == nil || overUDP(l) || l.GetInternalListener() != nil {
			return
		}
		name, _ := factoryType(at, extension.GetTypedConfig())
		if strings.HasPrefix(string(name), "envoy.extensions.network.connection_balance.") && !p.Target.Lacks(name) {
			return
		}
		p.Reject(at.Field("connection_balance_config", "extend_balance"), lint.Rejection{
			Message:  "this build of Envoy does not have this connection balancer",
			Help:     "write exact_balance: {}, or remove connection_balance_config",
			Upstream: fmt.Sprintf("Didn't find a registered implementation for type: '%s'", name),
		})
	}),
})
