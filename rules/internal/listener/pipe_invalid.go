package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "pipe-invalid",
	Severity: lint.Error,
	Summary:  "a listener's Unix socket has a path that is too long, or a mode that it cannot have",
	Why: `The path of a Unix socket has at most 107 bytes: the system has no room for more. A path that starts with ` + "`@`" + ` is an abstract name, no file, so
it has no ` + "`mode`" + `. Envoy refuses either, and a path with a zero byte in it.`,
	Links: []string{"PipeInstance::PipeInstance (source/common/network/address_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		for _, a := range addresses(at, l) {
			check.Pipe(p, a.at.Field("pipe"), a.GetPipe())
		}
	}),
})
