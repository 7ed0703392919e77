// Compile puts the plugin on standard input into a cache of compiled plugins, the folder of its argument.
package main

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/wasm/plugin"
)

func main() {
	module, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := plugin.Open(context.Background(), &source.File{Name: "plugin", Text: module}, plugin.Options{Cache: os.Args[1]}); err != nil {
		log.Fatal(err)
	}
}
