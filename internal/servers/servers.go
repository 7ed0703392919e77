// Package servers starts real management servers, which `make conform-servers` tests. What builds them is in the folders
// below, which are modules of their own.
package servers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/internal/servers/caches"
	"github.com/xdslint/xdslint/pull"
)

// Server is a management server.
type Server struct {
	Name string
	// pinned is a file with its version, and an expression for it.
	pinned [2]string
	start  start
}

// start starts a server. The root is that of the checkout; the folder is for its files.
type start func(ctx context.Context, root, dir string) (*Running, error)

// Table is a table of docs/conformance.md.
type Table struct {
	Name    string
	Servers []Server
}

// Tables have all servers that are tested.
var Tables = []Table{{"newest", newest()}, {"servers", []Server{
	{"java-control-plane", [2]string{"java/pom.xml", `<artifactId>server</artifactId>\s*<version>([^<]+)`}, javaControlPlane},
	{"Envoy Gateway", [2]string{"gateway/go.mod", `github.com/envoyproxy/gateway v(\S+)`}, envoyGateway},
	{"Istio", [2]string{"istio/go.mod", `istio.io/istio v\S+-(\w+)`}, istio},
	{"Cilium", [2]string{"cilium/go.mod", `github.com/cilium/cilium v(\S+)`}, cilium},
}}}

// newest returns a server for each cache of the newest go-control-plane.
func newest() (out []Server) {
	for _, c := range caches.All {
		out = append(out, Server{c.Name, [2]string{"gocp/go.mod", `go-control-plane v\S+-(\w+)`}, goControlPlane(c.Name)})
	}
	return out
}

// Running is a server that runs.
type Running struct {
	pull.Server
	Node *corev3.Node
	// Change is as package conform wants it.
	Change func(ctx context.Context, action, resource string) error
}

// Start starts a server, which ends with the context.
func (s Server) Start(ctx context.Context, root, dir string) (*Running, error) {
	r, err := s.start(ctx, root, dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return r, nil
}

// Version returns the version that is built.
func (s Server) Version(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "internal/servers", s.pinned[0]))
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(s.pinned[1]).FindSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("%s has no version of %s", s.pinned[0], s.Name)
	}
	return string(found[1]), nil
}
