package lint_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// Lint a bootstrap and the files that it names, with every built-in rule.
func ExampleRun() {
	ctx := context.Background()
	input, err := load.Paths(ctx, []string{"../testdata/snapshots/storefront/bootstrap.yaml"}, load.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	result := lint.Run(ctx, input.Snapshots, lint.Config{Rules: rules.Builtin()})
	for _, d := range result.Diagnostics {
		if d.Severity == lint.Error {
			fmt.Printf("%s %s: %s\n", d.Resource.Kind, d.Resource.Name, d.Message)
		}
	}
	// Output:
	// cluster checkout: no cluster load assignment is named "checkout-v2"
	// cluster images: connect_timeout must be greater than 0s
	// listener https: no secret is named "shop-certificate"
	// listener https: no cluster is named "ext-auth"
	// route_configuration shop: no cluster is named "checkout-canary"
	// route_configuration shop: no cluster is named "catalogue"
}

// Write a rule: Each calls it with every message of a type, wherever it is nested.
func ExampleEach() {
	acme := &lint.Group{Name: "acme", Summary: "what our team has agreed on"}
	acme.Add(&lint.Rule{
		Name:     "team-missing",
		Severity: lint.Warning,
		Summary:  "the name of a cluster does not begin with its team",
		Run: lint.Each(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
			if !strings.Contains(c.GetName(), "/") {
				p.Reportf(at.Field("name"), "whose cluster is %q?", c.GetName())
			}
		}),
	})

	linter, err := xdslint.New(xdslint.Options{BuiltIn: acme.Rules()})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := linter.Lint(context.Background(), xdslint.Texts(map[string][]byte{"envoy.yaml": []byte(`
static_resources:
  clusters:
  - name: shop/catalog
  - name: backend
`)}))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := report.Write(os.Stdout, "text"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// warning[acme/team-missing]: whose cluster is "backend"?
	//  --> envoy.yaml:5:11
	//   |
	// 5 |   - name: backend
	//   |           ^^^^^^^
	//   = in: cluster "backend" › name
	//
	// 1 warning in 1 file
}

// A custom rule that cannot judge a snapshot says why. The run reports that once, and nothing else of this rule.
func ExampleForOrigin() {
	tooMany := func(_ context.Context, passes []*lint.Pass) *lint.EvalError {
		p := passes[0]
		for _, r := range p.Snapshot.All(graph.Cluster) {
			if r.Name == "" {
				return &lint.EvalError{Message: "needs the name of each cluster"}
			}
			p.ReportResource(r, lint.Diagnostic{Message: "there are enough clusters"})
		}
		return nil
	}
	acme := &lint.Group{Name: "acme"}
	acme.Add(&lint.Rule{
		Name: "too-many-clusters", Severity: lint.Warning,
		Origin: &lint.Origin{Name: "rule acme/too-many-clusters", File: &graph.SourceFile{Name: "rules.go"}},
		Run:    lint.ForOrigin(func() lint.Judge { return tooMany }),
	})
	ctx := context.Background()
	for _, clusters := range []string{"[{name: a}]", "[{name: a}, {connect_timeout: 1s}]"} {
		texts := map[string][]byte{"envoy.yaml": []byte("static_resources: {clusters: " + clusters + "}\n")}
		input, err := load.Texts(ctx, texts, load.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, d := range lint.Run(ctx, input.Snapshots, lint.Config{Rules: acme.Rules()}).Diagnostics {
			fmt.Printf("%s: %s\n", d.Rule.ID(), d.Message)
		}
	}
	// Output:
	// acme/too-many-clusters: there are enough clusters
	// house/cannot-judge: rule acme/too-many-clusters needs the name of each cluster
}
