//go:build gen

// Command newrule writes the scaffold of a rule: `make new-rule GROUP=reference NAME=unknown-cluster`.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/xdslint/xdslint/internal/newrule"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "new-rule:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 || args[0] == "" || args[1] == "" {
		return errors.New("usage: make new-rule GROUP=reference NAME=unknown-cluster")
	}
	rule, archive, err := newrule.Write(args[0], args[1])
	if err != nil {
		return err
	}
	fmt.Printf("Fill in %s and %s, then: go test ./rules -run 'TestArchives/%s/%s' -update, and make update for the rule's page\n", rule, archive, args[0], args[1])
	return nil
}
