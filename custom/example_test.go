package custom_test

import (
	"context"
	"fmt"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// A configuration's constraints become rules, which run together with the built-in ones.
func ExampleConstraints() {
	config, err := xdslint.ParseConfig(xdslint.ConfigName, []byte(`
constraints:
- id: acme/cluster-name
  message: envoy.config.cluster.v3.Cluster
  field: name
  expression: this.matches('^[a-z]+-[a-z]+$')
  text: cluster names are team-service
`), custom.Constraints(rules.All(), nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	texts := map[string][]byte{"envoy.yaml": []byte("static_resources:\n  clusters:\n  - {name: shop-cart}\n  - {name: backend}\n")}
	input, err := load.Texts(context.Background(), texts, load.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range lint.Run(context.Background(), input.Snapshots, lint.Config{Rules: append(rules.Builtin(), config.Custom...)}).Diagnostics {
		at := d.Resource.File.Position(d.Span.Start)
		fmt.Printf("%s:%d: %s: %s\n", d.Resource.File.Name, at.Line, d.Rule.ID(), d.Message)
	}
	// Output:
	// envoy.yaml:4: acme/cluster-name: cluster names are team-service
}
