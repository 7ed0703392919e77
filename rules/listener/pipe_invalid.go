package listener

import (
	"fmt"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/lint"
)

// maxPath is the size of sockaddr_un.sun_path on Linux: the path and the zero at its end.
const maxPath = 108

var _ = Rules.Add(&lint.Rule{
	Name:     "pipe-invalid",
	Severity: lint.Error,
	Summary:  "a listener's Unix socket has a path that is too long, or a mode that it cannot have",
	Why: `The path of a Unix socket has at most 107 bytes: the system has no room for more. A path that starts with ` + "`@`" + ` is an abstract name, no file, so
it has no ` + "`mode`" + `. Envoy refuses either, and a path with a zero byte in it.`,
	Links: []string{"PipeInstance::PipeInstance (source/common/network/address_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		for _, a := range addresses(at, l) {
			pipe, own := a.GetPipe(), a.at.Field("pipe")
			path := pipe.GetPath()
			switch {
			case len(path) >= maxPath:
				p.Refuse(own.Field("path"), fmt.Sprintf("the path of the Unix socket has %d bytes, and no more than %d fit", len(path), maxPath-1),
					"choose a shorter path", fmt.Sprintf("exceeds maximum UNIX domain socket path size of %d", maxPath))
			case strings.HasPrefix(path, "@"):
				if pipe.GetMode() != 0 {
					p.Refuse(own.Field("mode").Key(), "an abstract Unix socket is no file, and has no mode",
						"leave out mode, or use the path of a file", "Cannot set mode for Abstract AF_UNIX sockets")
				}
			case strings.Contains(path, "\x00"):
				p.Refuse(own.Field("path"), "the path of the Unix socket has a zero byte in it",
					"leave it out", "UNIX domain socket pathname contains embedded null characters")
			}
		}
	}),
})
