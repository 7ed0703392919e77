package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/plugintest"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
	"github.com/xdslint/xdslint/wasm/plugin"
)

// The same custom rule in the three ways to write one, and as it would be if it were built in.
const (
	ruleID     = "acme/cluster-name"
	constraint = `constraints:
- id: acme/cluster-name
  message: envoy.config.cluster.v3.Cluster
  field: name
  expression: "this.matches('^[a-z]+-[a-z]+$')"
  text: cluster names are team-service
  severity: warning
`
)

var teamService = regexp.MustCompile(`^[a-z]+-[a-z]+$`)

func builtIn() *lint.Rule {
	return (&lint.Group{Name: "acme"}).Add(&lint.Rule{Name: "cluster-name", Severity: lint.Warning, Run: lint.Each(
		func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
			if c.GetName() != "" && !teamService.MatchString(c.GetName()) {
				p.Reportf(at.Field("name"), "cluster names are team-service")
			}
		})})
}

func constrained(tb testing.TB) *lint.Rule {
	tb.Helper()
	s, err := config.Parse(&source.File{Name: config.FileName, Text: []byte(constraint)}, rules.All(), custom.Constraints(rules.All(), nil))
	if err != nil {
		tb.Fatal(err)
	}
	return s.Custom[0]
}

// modules are the worked examples of plugins, the Go one built now.
func modules(tb testing.TB) map[string]*source.File {
	tb.Helper()
	rust, err := os.ReadFile(filepath.Join(root, "examples", "plugin-rust", "rules.wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	return map[string]*source.File{
		"rust": {Name: "rust.wasm", Text: rust},
		"go":   {Name: "go.wasm", Text: plugintest.Go(tb, filepath.Join(root, "examples", "plugin-go"))},
	}
}

func opened(tb testing.TB, module *source.File, cache string) (*plugin.Plugin, *lint.Rule) {
	tb.Helper()
	p, err := plugin.Open(tb.Context(), module, plugin.Options{Cache: cache})
	if err != nil {
		tb.Fatal(err)
	}
	for _, r := range p.Rules() {
		if r.ID() == ruleID {
			return p, r
		}
	}
	tb.Fatalf("%s has no rule %s", module.Name, ruleID)
	return nil, nil
}

// named is a snapshot of n clusters, every other one named otherwise than the rule wants.
func named(tb testing.TB, n int) []*graph.Snapshot {
	tb.Helper()
	config := &bootstrapv3.Bootstrap{StaticResources: &bootstrapv3.Bootstrap_StaticResources{}}
	for i := range n {
		name := "shop-" + strings.Map(func(digit rune) rune { return digit + 'a' - '0' }, fmt.Sprint(i))
		if i%2 == 1 {
			name = fmt.Sprintf("shop-%d", i)
		}
		config.StaticResources.Clusters = append(config.StaticResources.Clusters, cluster(name, i))
	}
	raw, err := proto.Marshal(config)
	if err != nil {
		tb.Fatal(err)
	}
	input, err := load.Texts(tb.Context(), map[string][]byte{"envoy.pb": raw}, load.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return input.Snapshots
}

func run(ctx context.Context, snapshots []*graph.Snapshot, rule *lint.Rule) *lint.Result {
	return lint.Run(ctx, snapshots, lint.Config{Rules: []*lint.Rule{rule}})
}

// BenchmarkCustomRule judges 1,000 clusters.
func BenchmarkCustomRule(b *testing.B) {
	snapshots := named(b, 1000)
	judge := func(name string, rule *lint.Rule) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if n := len(run(b.Context(), snapshots, rule).Diagnostics); n != 500 {
					b.Fatalf("%d findings", n)
				}
			}
		})
	}
	judge("built-in", builtIn())
	judge("constraint", constrained(b))
	files := modules(b)
	for _, language := range []string{"rust", "go"} {
		p, rule := opened(b, files[language], "")
		judge("plugin-"+language, rule)
		if err := p.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCustomRuleStart makes the rule ready: what a run takes longer before it begins. A plugin is compiled the first time, and cached then.
func BenchmarkCustomRuleStart(b *testing.B) {
	b.Run("constraint", func(b *testing.B) {
		for b.Loop() {
			constrained(b)
		}
	})
	files := modules(b)
	for _, language := range []string{"rust", "go"} {
		open := func(b *testing.B, cache string) {
			p, _ := opened(b, files[language], cache)
			if err := p.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		b.Run("plugin-"+language+"/first", func(b *testing.B) {
			for b.Loop() {
				open(b, "")
			}
		})
		b.Run("plugin-"+language+"/cached", func(b *testing.B) {
			cache := b.TempDir()
			open(b, cache)
			b.ResetTimer()
			for b.Loop() {
				open(b, cache)
			}
		})
	}
}
