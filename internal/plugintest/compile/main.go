// Compile puts the plugin on standard input into a cache of compiled plugins, the folder of its argument.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/wasm/plugin"
)

func main() {
	module, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	// On a machine that is busy with other tests, two seconds of compilation can take longer than plugin.MaxCompile. The compiler goes on in the
	// meantime, and fills the cache for the next attempt.
	for range 5 {
		_, err = plugin.Open(context.Background(), &source.File{Name: "plugin", Text: module}, plugin.Options{Cache: os.Args[1]})
		if err == nil || !strings.Contains(err.Error(), "takes longer than") {
			break
		}
		time.Sleep(plugin.MaxCompile)
	}
	if err != nil {
		log.Fatal(err)
	}
}
