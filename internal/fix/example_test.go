package fix_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/fix"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// Rounds lints until there is nothing left to fix. It writes nothing: the new texts are in the outcome.
func ExampleRounds() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "envoy.yaml")
	if err := os.WriteFile(path, []byte("node: {id: 42, cluster: edge} # one of many\n"), 0o600); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	outcome, err := fix.Rounds(fix.Work{
		Lint: func(texts map[string][]byte) (*lint.Result, error) {
			input, err := load.Paths(ctx, []string{path}, load.Options{Texts: texts})
			if err != nil {
				return nil, err
			}
			return lint.Run(ctx, input.Snapshots, lint.Config{Rules: rules.All()}), nil
		},
		Key: func(f *source.File) string { return load.RealPath(f.Name) },
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.Applied, "fixed")
	for _, text := range outcome.After {
		fmt.Print(string(text))
	}
	// Output:
	// 1 fixed
	// node: {id: "42", cluster: edge} # one of many
}
