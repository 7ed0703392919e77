package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "pipe-invalid",
	Severity: lint.Error,
	Summary:  "a listener's Unix socket has a path that is too long, or an invalid mode",
	Links:    []string{"PipeInstance::PipeInstance (source/common/network/address_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		for _, a := range addresses(at, l) {
			check.Pipe(p, a.at.Field("pipe"), a.GetPipe())
		}
	}),
})
