//go:build example

// Command main is the example control plane. The tag keeps it out of `go install ./...`.
package main

import (
	"context"
	"flag"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"time"

	"github.com/xdslint/xdslint/examples/controlplane"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:18000", "`address` that Envoys connect to")
	drain := flag.Duration("drain", 10*time.Minute, "the --drain-time-s of the Envoys")
	flag.Parse()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if flag.NArg() != 1 {
		log.Error("name one directory", "usage", "main [-listen ADDRESS] [-drain TIME] DIRECTORY")
		os.Exit(2)
	}
	if err := serve(*listen, *drain, log); err != nil {
		log.Error("stopped", "error", err)
		os.Exit(1)
	}
}

func serve(listen string, drain time.Duration, log *slog.Logger) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	c, err := controlplane.New(flag.Arg(0), log)
	if err != nil {
		return err
	}
	c.DrainTime = drain
	return c.Serve(ctx, l)
}
