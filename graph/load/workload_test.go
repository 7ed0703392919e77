package load_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
)

const (
	envoyPod = `{metadata: {labels: {app: edge, tier: web}}, spec: {containers: [{name: envoy, image: "envoyproxy/envoy:v1.40.0",
  volumeMounts: [{name: config, mountPath: /etc/envoy}]}], volumes: [{name: config, configMap: {name: edge}}]}}`
	otherPod = `{metadata: {labels: {app: shop}}, spec: {containers: [{name: shop, image: "shop:1"}]}}`
	boot     = "static_resources: {}\n"
)

func deployment(name, template string) string {
	return fmt.Sprintf("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s}\nspec: {template: %s}\n", name, template)
}

func service(name, selector string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Service\nmetadata: {name: %s}\nspec: {selector: %s, ports: [{port: 80}]}\n", name, selector)
}

func configMap(name, more string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s%s}\ndata: {envoy.yaml: \"static_resources: {}\"}\n", name, more)
}

// The workload and its Services belong to the bootstrap that it certainly runs.
func TestWorkloads(t *testing.T) {
	for name, c := range map[string]struct {
		texts map[string]string
		want  []string // snapshot, and its workloads and Services
	}{
		"a ConfigMap": {
			map[string]string{"a.yaml": deployment("edge", envoyPod), "b.yaml": configMap("edge", "") + configMap("other", "") + service("edge", "{app: edge}")},
			[]string{"b.yaml edge: Deployment edge, Service edge", "b.yaml other:"},
		},
		"another key of the ConfigMap": {
			map[string]string{"a.yaml": deployment("edge", strings.Replace(envoyPod, "v1.40.0\"", "v1.40.0\", args: [-c, /etc/envoy/x.yaml]", 1)) + configMap("edge", "")},
			[]string{"a.yaml edge: Deployment edge"},
		},
		"another namespace": {
			map[string]string{"a.yaml": strings.Replace(deployment("edge", envoyPod), "name: edge", "name: edge, namespace: a", 1) + configMap("edge", ", namespace: b")},
			[]string{"a.yaml edge:"},
		},
		"two ConfigMaps of that name elsewhere": {
			map[string]string{"a.yaml": deployment("edge", envoyPod), "b.yaml": configMap("edge", ""), "c.yaml": configMap("edge", "")},
			[]string{"b.yaml edge:", "c.yaml edge:"},
		},
		"one of two ConfigMaps is in the file of the workload": {
			map[string]string{"a.yaml": deployment("edge", envoyPod) + configMap("edge", ""), "b.yaml": configMap("edge", "")},
			[]string{"a.yaml edge: Deployment edge", "b.yaml edge:"},
		},
		"two workloads of that name": {
			map[string]string{"a.yaml": deployment("edge", envoyPod), "b.yaml": deployment("edge", otherPod), "c.yaml": configMap("edge", "")},
			[]string{"c.yaml edge:"},
		},
		"two workloads, one Service": {
			map[string]string{"a.yaml": deployment("edge", envoyPod) + deployment("canary", envoyPod) + configMap("edge", "") + service("edge", "{tier: web}")},
			[]string{"a.yaml edge: Deployment edge, Service edge, Deployment canary"},
		},
		"a file next to the workload": {
			map[string]string{"k8s/a.yaml": deployment("edge", envoyPod) + service("edge", "{app: edge, tier: db}"), "k8s/conf/envoy.yaml": boot},
			[]string{"k8s/conf/envoy.yaml : Deployment edge"},
		},
		"a file elsewhere":       {map[string]string{"k8s/a.yaml": deployment("edge", envoyPod), "envoy.yaml": boot}, []string{"envoy.yaml :"}},
		"a file of another name": {map[string]string{"a.yaml": deployment("edge", envoyPod), "edge.yaml": boot}, []string{"edge.yaml :"}},
		"two files": {
			map[string]string{"a.yaml": deployment("edge", envoyPod), "x/envoy.yaml": boot, "y/envoy.yaml": boot},
			[]string{"x/envoy.yaml :", "y/envoy.yaml :"},
		},
		"another program": {map[string]string{"a.yaml": deployment("edge", otherPod), "envoy.yaml": boot}, []string{"envoy.yaml :"}},
	} {
		t.Run(name, func(t *testing.T) {
			input := texts(t, c.texts)
			var got []string
			for _, s := range input.Snapshots {
				b, around := "", []string{}
				for _, r := range s.Resources {
					switch r.Kind {
					case graph.Bootstrap:
						if r.Object != nil {
							b = r.Object.Name
						}
						b = r.File.Name + " " + b
					case graph.Workload, graph.Service:
						around = append(around, r.Name)
					}
				}
				got = append(got, strings.TrimSpace(b+": "+strings.Join(around, ", ")))
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func texts(t *testing.T, all map[string]string) *load.Input {
	t.Helper()
	bytes := map[string][]byte{}
	for name, text := range all {
		bytes[name] = []byte(text)
	}
	input, err := load.Texts(t.Context(), bytes, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return input
}

// Files with workloads are reported as read if a bootstrap is about them, and as before otherwise.
func TestWorkloadFiles(t *testing.T) {
	input := texts(t, map[string]string{"a.yaml": deployment("edge", envoyPod) + service("edge", "{app: edge}") + service("db", "{app: db}"), "b.yaml": deployment("shop", otherPod), "envoy.yaml": boot})
	got := map[string]string{}
	for _, f := range input.Files {
		got[f.Path] = f.As + f.Why
	}
	want := map[string]string{"a.yaml": "Kubernetes manifest (Deployment, Service)", "b.yaml": "it is a Kubernetes object (Deployment)", "envoy.yaml": "bootstrap"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := input.One("the input"); err != nil {
		t.Error(err)
	}
}

// The number of comparisons of Services with pods is limited; those that are left out are missing, and nothing else.
func TestManyWorkloads(t *testing.T) {
	text := configMap("edge", "")
	const n = 200
	for i := range n {
		text += deployment(fmt.Sprint("edge-", i), envoyPod) + service(fmt.Sprint("edge-", i), "{app: edge}")
	}
	workloads, pairs := 0, 0
	for _, s := range texts(t, map[string]string{"a.yaml": text}).Snapshots {
		for _, r := range s.Resources {
			if r.Kind == graph.Workload {
				workloads++
				pairs += len(r.Runs.Services)
			}
		}
	}
	if workloads != n || pairs == 0 || pairs > 10_000 {
		t.Errorf("%d workloads, with %d Services", workloads, pairs)
	}
}
