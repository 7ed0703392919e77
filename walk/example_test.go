package walk_test

import (
	"context"
	"fmt"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/walk"
)

// Ask what Envoy does with a request before a push. A control plane passes its SnapshotCache's snapshot through gocp.Snapshot instead.
func ExampleWalk() {
	linter, err := xdslint.New(xdslint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	snapshot, _, err := linter.Snapshot(context.Background(), xdslint.Paths("../testdata/walk/edge.yaml"))
	if err != nil {
		fmt.Println(err)
		return
	}
	host, path := "shop.example.com", "/cart/items"
	answers, err := walk.Walk(snapshot, &walk.Request{Method: "GET", Authority: &host, Path: &path, TLS: true, SNI: host})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range answers {
		fmt.Println("route", a.Route, "to cluster", a.Target, "as", a.Host+a.Path)
	}
	// Output:
	// route cart to cluster cart as cart.internal/v2/cart/items
}
