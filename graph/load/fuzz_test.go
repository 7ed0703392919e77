package load

import (
	"bytes"
	"context"
	"regexp"
	"testing"
)

func FuzzLoad(f *testing.F) {
	for name, text := range map[string]string{
		"a.yaml":  "static_resources: {clusters: [{name: a, eds_cluster_config: {eds_config: {path: /nowhere}}}]}",
		"b.json":  `{"version_info": "1", "resources": [{"@type": "type.googleapis.com/envoy.service.discovery.v3.Resource", "name": "c"}]}`,
		"c.json":  `{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump", "static_clusters": [{"cluster": {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster"}}]}]}`,
		"d.txtpb": `resources { [type.googleapis.com/envoy.config.cluster.v3.Cluster] { name: "c" } }`,
		"e.pb":    "\x12\x38\x0a\x34type.googleapis.com/envoy.config.cluster.v3.Cluster\x12\x00",
		"f":       "- {'@type': type.googleapis.com/envoy.config.route.v3.RouteConfiguration, name: {{ x }}}",
		"g.yaml":  "removed_resources: [a]\ntype_url: type.googleapis.com/envoy.config.cluster.v3.Cluster",
		"h.yaml":  "apiVersion: v1\nkind: Secret\nmetadata: {name: a, labels: {xdslint.dev/check: ''}}\nstringData:\n  b.yaml: |2-\n   static_resources:\n\n     clusters: [{name: a, lb: 1}]\ndata: {c: e30K}\n",
		"i.yaml":  "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilterList\nitems:\n- &a {spec: {configPatches: [{applyTo: CLUSTER, match: {cluster: {}}, patch: {operation: MERGE, value: {lb: 1}}}]}}\n- *a\n",
		"j.yaml":  "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: EnvoyPatchPolicy\nmetadata: {name: a}\nspec: {jsonPatches: [{type: type.googleapis.com/envoy.config.listener.v3.Listener, name: a, operation: {op: add, path: /filter_chains/0/filters/0/typed_config/http_filters/-, value: {name: a}}}]}\n",
	} {
		f.Add(name, []byte(text))
	}
	other := regexp.MustCompile(`^(it is a Kubernetes object|a (ConfigMap|Secret) |none of its Kubernetes objects holds xDS)`)
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		in, err := Paths(context.Background(), []string{"-"}, Options{Stdin: bytes.NewReader(text), StdinName: name, ConfigYAML: "node: {id: x}"})
		if err != nil {
			t.Fatal(err)
		}
		resources := 0
		for _, s := range in.Snapshots {
			for _, r := range s.Resources {
				resources++
				if r.File == nil || r.Kind == "" {
					t.Errorf("%q has file %v", r.Kind, r.File)
				}
				for _, p := range r.Problems {
					if p.Span.End > len(r.File.Text) || p.Message == "" {
						t.Errorf("problem %q at %v", p.Message, p.Span)
					}
				}
			}
		}
		if len(in.Files) != 1 || in.Files[0].As == "" && resources == 0 && !other.MatchString(in.Files[0].Why) {
			t.Errorf("nothing is said about the file: %+v", in.Files)
		}
	})
}
