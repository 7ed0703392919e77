//go:build wasip1

// A plugin whose rules crash, each in a way of its own.
package main

import "github.com/xdslint/xdslint/sdk"

func init() {
	for id, f := range map[string]func(){"acme/index": index, "acme/memory": memory, "acme/deadlock": deadlock} {
		sdk.Register(sdk.Rule{ID: id, Summary: "a rule that crashes", Check: sdk.Whole(func(*sdk.Pass) { f() })})
	}
	sdk.Register(sdk.Rule{ID: "acme/late", Summary: "a rule that finds something, and crashes then", Check: sdk.Whole(func(p *sdk.Pass) {
		p.Reportf(p.Snapshot.Resources[0].At(), "this is wrong")
		index()
	})})
}

func main() {}

var none []int

func index() { none[len(none)]++ }

var all [][]byte

func memory() {
	for {
		all = append(all, make([]byte, 1<<20))
	}
}

func deadlock() { <-make(chan int) }
