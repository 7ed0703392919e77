package check

import (
	"fmt"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/lint"
)

// maxPath is the size of sockaddr_un::sun_path on Linux, with the zero byte at its end.
const maxPath = 108

// Pipe reports a Unix socket that Envoy cannot use as an address (PipeInstance::create).
func Pipe(p *lint.Pass, at lint.At, pipe *corev3.Pipe) {
	path := pipe.GetPath()
	switch {
	case len(path) >= maxPath:
		p.Reject(at.Field("path"), lint.Rejection{
			Message:  fmt.Sprintf("the path of the Unix socket has %d bytes, but at most %d are allowed", len(path), maxPath-1),
			Help:     "choose a shorter path",
			Upstream: fmt.Sprintf("exceeds maximum UNIX domain socket path size of %d", maxPath),
		})
	case strings.HasPrefix(path, "@"):
		if pipe.GetMode() != 0 {
			p.Reject(at.Field("mode").Key(), lint.Rejection{
				Message:  "an abstract Unix socket is not a file and does not have a mode",
				Help:     "remove mode, or use the path of a file",
				Upstream: "Cannot set mode for Abstract AF_UNIX sockets",
			})
		}
	case strings.Contains(path, "\x00"):
		p.Reject(at.Field("path"), lint.Rejection{
			Message:  "the path of the Unix socket contains a zero byte",
			Help:     "remove the zero byte",
			Upstream: "UNIX domain socket pathname contains embedded null characters",
		})
	}
}
