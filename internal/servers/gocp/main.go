// Command gocp serves a cache of the newest go-control-plane: its argument says which.
package main

import (
	"context"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"

	"github.com/xdslint/xdslint/internal/servers/caches"
	"github.com/xdslint/xdslint/internal/servers/child"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range caches.All {
		if c.Name == os.Args[1] {
			s, cache := grpc.NewServer(), c.Create()
			caches.Serve(context.Background(), s, cache, nil)
			go func() { _ = s.Serve(l) }() // until the process ends
			log.Fatal(child.Run(l, child.Fill(cache)))
		}
	}
}
