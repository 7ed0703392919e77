package servers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"text/template"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/pull"
)

var gateways = template.Must(template.New("").Parse(`apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: eg, namespace: default}
spec:
  gatewayClassName: eg
  listeners:{{range $port, $_ := .}}
  - {name: l{{$port}}, protocol: HTTP, port: {{$port}}}{{end}}
{{range $port, $last := .}}---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: s{{$port}}, namespace: default}
spec:
  parentRefs: [{name: eg, sectionName: l{{$port}}}]
  rules: [{backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: s{{$port}}}]}]
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: Backend
metadata: {name: s{{$port}}, namespace: default}
spec: {endpoints: [{ip: {address: 192.0.2.{{$last}}, port: 8080}}]}
{{end}}`))

const (
	gatewayConfig = `apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyGateway
gateway: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
provider:
  type: Custom
  custom:
    resource: {type: File, file: {paths: [%q]}}
    infrastructure: {type: Host, host: {configHome: %[2]q, dataHome: %[2]q, stateHome: %[2]q, runtimeDir: %[2]q}}
logging: {level: {default: error}}
extensionApis: {enableBackend: true, enableEnvoyPatchPolicy: true}
`
	// gatewayAddress is built in.
	gatewayAddress = "127.0.0.1:18000"
)

// patchPolicy changes a resource of Envoy Gateway.
func patchPolicy(kind, name string, n int) string {
	of := map[string][3]string{
		"cluster":             {"cluster.v3.Cluster", "/connect_timeout", fmt.Sprintf("%ds", n)},
		"listener":            {"listener.v3.Listener", "/stat_prefix", fmt.Sprintf("changed-%d", n)},
		"route_configuration": {"route.v3.RouteConfiguration", "/max_direct_response_body_size_bytes", strconv.Itoa(5000 + n)},
	}[kind]
	return fmt.Sprintf(`---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyPatchPolicy
metadata: {name: "p%x", namespace: default}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: eg}
  type: JSONPatch
  jsonPatches: [{type: type.googleapis.com/envoy.config.%s, name: %q, operation: {op: add, path: %q, value: %q}}]
`, kind+name, of[0], name, of[1], of[2])
}

// oneGateway is locked while one runs: its port is fixed.
var oneGateway sync.Mutex

// envoyGateway serves a Gateway without Kubernetes.
func envoyGateway(ctx context.Context, root, dir string) (*Running, error) {
	folder, home := filepath.Join(dir, "config"), filepath.Join(dir, "home")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	o := &objects{write: moveTo(folder), port: regexp.MustCompile(`/[ls](\d+)(?:/|$)`), services: gateways, patch: patchPolicy}
	if err := o.fill(); err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "envoy-gateway.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, gatewayConfig, folder, home), 0o600); err != nil {
		return nil, err
	}
	binary, err := filepath.Abs(filepath.Join(root, ".tools/bin/envoy-gateway"))
	if err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, binary, "certgen", "--local", "--config-home", home).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("certgen: %w\n%s", err, out)
	}
	certs := filepath.Join(home, "certs", "envoy")
	pair, err := tls.LoadX509KeyPair(filepath.Join(certs, "tls.crt"), filepath.Join(certs, "tls.key"))
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(filepath.Join(certs, "ca.crt"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	oneGateway.Lock()
	cmd := exec.CommandContext(ctx, binary, "server", "--config-path", config)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HTTPS_PROXY=127.0.0.1:1") // it would fetch an Envoy
	if err := startAt(ctx, cmd, gatewayAddress, time.Minute, oneGateway.Unlock); err != nil {
		return nil, err
	}
	r := &Running{
		pull.Server{Address: gatewayAddress, TLS: &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, ServerName: "envoy-gateway", MinVersion: tls.VersionTLS12}},
		&corev3.Node{Id: "edge-1", Cluster: "default/eg"}, o.change,
	}
	return r, r.await(ctx)
}

// await waits until the server serves something: it listens before it has read its configuration.
func (r *Running) await(ctx context.Context) error {
	for range 20 {
		if _, err := pull.SotW(ctx, r.Server, pull.Request{Node: r.Node, Wait: 5 * time.Second}); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return errors.New("it serves nothing")
}
