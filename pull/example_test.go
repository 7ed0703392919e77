package pull_test

import (
	"context"
	"fmt"
	"log"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/pull"
	"github.com/xdslint/xdslint/rules"
)

// Lint what a management server sends to one Envoy.
func ExampleSotW() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	got, err := pull.SotW(ctx, pull.Server{Address: "localhost:18000"}, pull.Request{Node: &corev3.Node{Id: "edge-1"}})
	if err != nil {
		log.Fatal(err)
	}
	files, err := got.Files()
	if err != nil {
		log.Fatal(err)
	}
	for _, note := range got.Notes() { // what is missing, and why
		fmt.Println(note)
	}
	input, err := load.Texts(ctx, files, load.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range input.Snapshots {
		got.Declare(s)
	}
	for _, d := range lint.Run(ctx, input.Snapshots, lint.Config{Rules: rules.Builtin()}).Diagnostics {
		fmt.Println(d.Severity, d.Rule.ID(), d.Resource.Name, d.Message)
	}
}
