package plugin_test

import (
	"context"
	"fmt"
	"os"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
	"github.com/xdslint/xdslint/wasm/plugin"
)

// A plugin's rules run in addition to the built-in ones.
func ExampleOpen() {
	ctx := context.Background()
	module, err := os.ReadFile("../../examples/plugin-rust/rules.wasm")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := plugin.Open(ctx, &graph.SourceFile{Name: "rules.wasm", Text: module}, plugin.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close(ctx)
	texts := map[string][]byte{"envoy.yaml": []byte("static_resources:\n  clusters:\n  - {name: shop-cart}\n  - {name: backend}\n")}
	input, err := load.Texts(ctx, texts, load.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range lint.Run(ctx, input.Snapshots, lint.Config{Rules: append(rules.Builtin(), p.Rules()...)}).Diagnostics {
		at := d.Resource.File.Position(d.Span.Start)
		fmt.Printf("%s:%d: %s: %s\n", d.Resource.File.Name, at.Line, d.Rule.ID(), d.Message)
	}
	// Output:
	// envoy.yaml:4: acme/cluster-name: cluster names are team-service
}
