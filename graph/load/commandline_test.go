package load_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/graph"
)

// merging is a pod that runs the ConfigMap edge with more on its command line.
func merging(yaml string) string {
	return strings.Replace(envoyPod, `v1.40.0"`, fmt.Sprintf(`v1.40.0", args: [-c, /etc/envoy/envoy.yaml, --config-yaml, %q]`, yaml), 1)
}

const onlyMore = "apiVersion: v1\nkind: Pod\nmetadata: {name: edge}\nspec:\n  containers:\n  - image: envoyproxy/envoy:v1.40.0\n    args:\n    - --config-yaml\n    - |\n" +
	"      static_resources:\n        clusters:\n        - {name: shop, bogus: 1}\n"

// What is on the command line of a container is merged over its bootstrap, or is the bootstrap.
func TestCommandLine(t *testing.T) {
	shop := "static_resources: {clusters: [{name: shop}]}"
	for name, c := range map[string]struct {
		text string
		want []string // clusters and problems, by snapshot
	}{
		"merged":            {deployment("edge", merging(shop)) + configMap("edge", ""), []string{"shop"}},
		"the same twice":    {deployment("edge", merging(shop)) + deployment("canary", merging(shop)) + configMap("edge", ""), []string{"shop"}},
		"different ones":    {deployment("edge", merging(shop)) + deployment("canary", envoyPod) + configMap("edge", ""), []string{""}},
		"only there":        {onlyMore, []string{"shop, bogus at 12:24"}},
		"another program":   {strings.Replace(onlyMore, "envoyproxy/envoy:", "shop:", 1), nil},
		"a bootstrap file":  {strings.Replace(onlyMore, "args:", "args:\n    - -c a.yaml", 1), nil},
		"not YAML":          {strings.Replace(onlyMore, "clusters:\n", "clusters: ]\n", 1), nil},
		"a variable":        {deployment("edge", merging("node: {id: $(POD)}\n"+shop)) + configMap("edge", ""), []string{"shop"}},
		"a variable number": {deployment("edge", merging("stats_flush_interval: $(T)\n"+shop)) + configMap("edge", ""), []string{""}},
		"only a variable":   {strings.Replace(onlyMore, "bogus: 1", "connect_timeout: $(T)", 1), nil},
		"a source of names": {deployment("edge", merging("dynamic_resources: {cds_config: {ads: {}}}")) + configMap("edge", ""), []string{"more"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range texts(t, map[string]string{"a.yaml": c.text}).Snapshots {
				got = append(got, strings.Join(summary(s), ", "))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func summary(s *graph.Snapshot) (all []string) {
	for _, r := range s.Resources {
		if r.Kind == graph.Cluster {
			all = append(all, r.Name)
		}
		for _, p := range r.Problems {
			at := r.File.Position(p.Span.Start)
			all = append(all, fmt.Sprintf("%s at %d:%d", p.Name, at.Line, at.Column))
		}
	}
	if s.World(graph.Cluster, graph.Anywhere) == graph.Open {
		all = append(all, "more")
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all
}
