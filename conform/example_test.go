package conform_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/xds"

	"github.com/xdslint/xdslint/conform"
)

// A client of grpc-go is tested in the same process.
func ExampleClients() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	bootstrap := fmt.Sprintf(`{"xds_servers": [{"server_uri": %q, "channel_creds": [{"type": "insecure"}]}], "node": {"id": "shop-1"}}`, l.Addr())
	resolver, err := xds.NewXDSResolverWithConfigForTesting([]byte(bootstrap))
	if err != nil {
		panic(err)
	}
	conn, err := grpc.NewClient("xds:///shop", grpc.WithResolvers(resolver), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	conn.Connect()

	report, err := conform.Clients(context.Background(), l, 20*time.Second)
	if err != nil {
		panic(err)
	}
	for _, c := range report.Broken() {
		clause, _, _ := strings.Cut(c.String(), ": broken")
		fmt.Println(clause)
	}
	// Output:
	// protocol/answer-missing (should), sotw-ads, listener
	// protocol/answer-missing (should), sotw-ads, route_configuration
	// protocol/answer-missing (should), sotw-ads, cluster
	// protocol/answer-missing (should), sotw-ads, cluster_load_assignment
	// protocol/duplicate-name-accepted (should), sotw-ads, listener
	// protocol/duplicate-name-accepted (should), sotw-ads, route_configuration
	// protocol/duplicate-name-accepted (should), sotw-ads, cluster
	// protocol/duplicate-name-accepted (should), sotw-ads, cluster_load_assignment
}
