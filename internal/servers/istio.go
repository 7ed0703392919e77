package servers

import (
	"context"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"regexp"
	"text/template"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/pull"
)

var entries = template.Must(template.New("").Parse(`{{range $port, $last := .}}---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: s{{$port}}, namespace: default}
spec:
  hosts: [s{{$port}}.example]
  ports: [{number: {{$port}}, name: http, protocol: HTTP}]
  resolution: STATIC
  endpoints: [{address: 192.0.2.{{$last}}}]
{{end}}`))

// envoyFilter changes a resource of Istio.
func envoyFilter(kind, name string, n int) string {
	of := map[string][2]string{
		"cluster":             {fmt.Sprintf("CLUSTER, match: {cluster: {name: %q}}", name), fmt.Sprintf("connect_timeout: %ds", n)},
		"listener":            {fmt.Sprintf("LISTENER, match: {listener: {name: %q}}", name), fmt.Sprintf("stat_prefix: changed-%d", n)},
		"route_configuration": {fmt.Sprintf("ROUTE_CONFIGURATION, match: {routeConfiguration: {name: %q}}", name), fmt.Sprintf("max_direct_response_body_size_bytes: %d", 5000+n)},
	}[kind]
	return fmt.Sprintf(`---
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: "p%x", namespace: default}
spec: {configPatches: [{applyTo: %s, patch: {operation: MERGE, value: {%s}}}]}
`, kind+name, of[0], of[1])
}

// istio serves services to a sidecar, without Kubernetes.
func istio(ctx context.Context, root, _ string) (*Running, error) {
	l, err := startLines(ctx, filepath.Join(root, ".tools/servers/istio"))
	if err != nil {
		return nil, err
	}
	o := &objects{
		write: func(text []byte) error {
			l.say("apply %s", base64.StdEncoding.EncodeToString(text))
			return l.err
		},
		port: regexp.MustCompile(`(?:^|[_|])(\d+)(?:\||$)`), services: entries, patch: envoyFilter,
	}
	if err := o.fill(); err != nil {
		return nil, err
	}
	metadata, err := structpb.NewStruct(map[string]any{"NAMESPACE": "default", "ISTIO_VERSION": "1.31.0"})
	if err != nil {
		return nil, err
	}
	node := &corev3.Node{Id: "sidecar~192.0.2.200~app.default~default.svc.cluster.local", Metadata: metadata}
	return &Running{pull.Server{Address: l.address}, node, o.change}, nil
}
