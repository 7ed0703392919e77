package lint_test

import (
	"context"
	"fmt"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// Lint what a folder holds, with every built-in rule.
func ExampleRun() {
	ctx := context.Background()
	input, err := load.Paths(ctx, []string{"../testdata/snapshots/storefront/bootstrap.yaml"}, load.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	result := lint.Run(ctx, input.Snapshots, lint.Config{Rules: rules.All()})
	for _, d := range result.Diagnostics {
		if d.Severity == lint.Error {
			fmt.Printf("%s: %s %q, %s\n", d.Rule.ID(), d.Resource.Kind, d.Resource.Name, d.Path)
		}
	}
	// Output:
}
