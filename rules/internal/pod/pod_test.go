package pod

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
)

const manifest = `apiVersion: apps/v1
kind: Deployment
metadata: {name: edge}
spec:
  template:
    metadata:
      labels: {app: edge}
      annotations: {team: shop}
    spec:
      initContainers: []
      containers:
      - name: envoy
        image: envoyproxy/envoy:v1.39.0
        args: [-c, /etc/envoy/envoy.yaml]
        resources: {limits: {cpu: 1, memory: 1Gi}}
        readinessProbe: {tcpSocket: {port: 9000}}
        lifecycle: {preStop: {exec: {command: [sh, -c, "curl -X POST localhost:9901/drain_listeners?graceful; sleep 15"]}}}
        volumeMounts: [{name: config, mountPath: /etc/envoy}]
      volumes: [{name: config, configMap: {name: edge}}]
---
apiVersion: v1
kind: Service
metadata: {name: edge}
spec: {selector: {app: edge}, ports: [{port: 9000}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: edge}
data:
  cds.yaml: "resources: []"
  envoy.yaml: |
    node: {id: a, cluster: a}
    dynamic_resources: {cds_config: {path_config_source: {path: /etc/envoy/cds.yaml}}}
    overload_manager:
      resource_monitors:
      - name: heap
        typed_config: {"@type": type.googleapis.com/envoy.extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig, max_heap_size_bytes: 2147483648}
      actions: [{name: envoy.overload_actions.shrink_heap, triggers: [{name: heap, threshold: {value: 0.5}}]}]
`

// Each case changes what some of the rules report about the manifest.
func TestSilence(t *testing.T) {
	all := []string{"config-not-watched", "heap-over-limit", "workers-over-cpu", "probe-port-unserved", "drain-over-grace", "service-port-unserved"}
	for name, c := range map[string]struct {
		old, new string
		less     []string
	}{
		"as it is":                   {"", "", nil},
		"pods restart by a checksum": {"team: shop", "checksum/config: abc", []string{"config-not-watched"}},
		"immutable":                  {"data:\n  cds", "immutable: true\ndata:\n  cds", []string{"config-not-watched"}},
		"the heap fits":              {"0.5", "0.4", []string{"heap-over-limit"}},
		"another monitor":            {"triggers: [{name: heap,", "triggers: [{name: cpu,", []string{"heap-over-limit"}},
		"no limits":                  {"limits", "requests", []string{"heap-over-limit", "workers-over-cpu"}},
		"a limit from elsewhere":     {"memory: 1Gi", "memory: much", []string{"heap-over-limit"}},
		"Envoy 1.40":                 {"v1.39.0", "v1.40.0", []string{"workers-over-cpu"}},
		"cpuset":                     {"envoy.yaml]\n", "envoy.yaml, --cpuset-threads]\n", []string{"workers-over-cpu"}},
		"a variable":                 {"envoy.yaml]\n", "envoy.yaml, --concurrency, $(CPUS), --drain-time-s, $(DRAIN)]\n", []string{"workers-over-cpu", "drain-over-grace"}},
		"immediate":                  {"envoy.yaml]\n", "envoy.yaml, --drain-strategy immediate]\n", []string{"drain-over-grace"}},
		"a loop":                     {"; sleep 15", "; until grep x; do\nsleep 1; done", []string{"drain-over-grace"}},
		"a failed health check":      {"; sleep 15", "; curl -XPOST localhost:9901/healthcheck/fail; sleep 15", []string{"drain-over-grace"}},
		"listeners from elsewhere": {
			"dynamic_resources: {", "dynamic_resources: {lds_config: {ads: {}}, ads_config: {api_type: GRPC, grpc_services: [{google_grpc: {target_uri: a, stat_prefix: a}}]}, ",
			[]string{"probe-port-unserved", "service-port-unserved"},
		},
		"another container": {"      volumes:", "      - {name: shop, image: shop}\n      volumes:", []string{"probe-port-unserved", "service-port-unserved"}},
		"redirected connections": {
			"initContainers: []", "initContainers: [{name: a, image: a, securityContext: {capabilities: {add: [NET_ADMIN]}}}]",
			[]string{"probe-port-unserved", "service-port-unserved"},
		},
		"another Service": {"{selector: {app: edge}", "{selector: {app: shop}", []string{"service-port-unserved"}},
		"another host":    {"tcpSocket: {port", "tcpSocket: {host: shop, port", []string{"probe-port-unserved"}},
		"the object is not in the input": {
			"volumes: [{name: config, configMap: {name: edge}}]", "volumes: [{name: config, configMap: {name: other}}]", all,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.old != "" && strings.Count(manifest, c.old) != 1 {
				t.Fatalf("%q is not there once", c.old)
			}
			text := strings.Replace(manifest, c.old, c.new, 1)
			input, err := load.Texts(t.Context(), map[string][]byte{"all.yaml": []byte(text)}, load.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, d := range lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: Rules.Rules()}).Diagnostics {
				got[d.Rule.Name] = true
			}
			want := map[string]bool{}
			for _, rule := range all {
				want[rule] = true
			}
			for _, rule := range c.less {
				delete(want, rule)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
