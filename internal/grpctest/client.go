package grpctest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/grpclog"
	"google.golang.org/grpc/xds"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"
)

func init() { grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard)) } // each listener that is served is an error to it

// listenerName is the listener that clients ask for.
const listenerName = "xdslint-client"

// Client is a grpc-go client that is connected to a management server.
type Client struct {
	server *server
	conn   *grpc.ClientConn
}

// New starts a client whose bootstrap declares certificate providers.
func New(ctx context.Context, providers ...string) (*Client, error) {
	c, err := start(func(kind, name string) *anypb.Any { return standard(kind, name, name, &endpoint{"127.0.0.1", 1}) }, listenerName, providers)
	if err != nil {
		return nil, err
	}
	c.conn.Connect()
	select {
	case <-c.server.ready:
		return c, nil
	case <-ctx.Done():
		c.Close()
		return nil, fmt.Errorf("the client did not ask for all types: %w", ctx.Err())
	}
}

func start(serve func(kind, name string) *anypb.Any, listener string, providers []string) (*Client, error) {
	s, err := listen(serve)
	if err != nil {
		return nil, err
	}
	conn, err := connect(bootstrap(s.address, listener, providers), "xds:///"+listenerName)
	if err != nil {
		s.grpc.Stop()
		return nil, err
	}
	return &Client{s, conn}, nil
}

func connect(bootstrap []byte, target string) (*grpc.ClientConn, error) {
	resolver, err := xds.NewXDSResolverWithConfigForTesting(bootstrap)
	if err != nil {
		return nil, err
	}
	return grpc.NewClient(target, grpc.WithResolvers(resolver), grpc.WithTransportCredentials(insecure.NewCredentials()))
}

// Bootstrap returns the error of grpc-go if it rejects a bootstrap. That of a server needs a field that a client does without.
func Bootstrap(text []byte) error {
	s, err := xds.NewGRPCServer(xds.BootstrapContentsForTesting(text))
	if err == nil {
		s.Stop()
		return nil
	}
	if strings.Contains(err.Error(), "missing server_listener_resource_name_template") {
		return nil
	}
	c, err := connect(text, "xds:///"+listenerName) // a client says why
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Invoke(context.Background(), Method, &emptypb.Empty{}, &emptypb.Empty{})
}

func bootstrap(address, listener string, providers []string) []byte {
	declared := map[string]any{}
	for _, name := range providers {
		declared[name] = map[string]any{"plugin_name": "file_watcher", "config": map[string]any{"ca_certificate_file": "ca.crt"}}
	}
	text, err := json.Marshal(map[string]any{
		"xds_servers":           []any{map[string]any{"server_uri": address, "channel_creds": []any{map[string]any{"type": "insecure"}}}},
		"node":                  map[string]any{"id": "xdslint"},
		"certificate_providers": declared,
		"client_default_listener_resource_name_template": listener,
		"server_listener_resource_name_template":         listener,
	})
	if err != nil {
		panic(err) // it is made of strings
	}
	return text
}

// Close ends the client and its server.
func (c *Client) Close() {
	_ = c.conn.Close()
	c.server.grpc.Stop()
}

// Judge pushes a resource. It returns the client's error if the client rejects it (NACK), and nil if it accepts it (ACK).
func (c *Client) Judge(ctx context.Context, kind string, resource *anypb.Any) (rejected, err error) {
	answer, err := c.server.push(kind, resource)
	if err != nil {
		return nil, err
	}
	select {
	case request := <-answer:
		return rejection(request), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("the client did not answer: %w", ctx.Err())
	}
}

func rejection(request *discoveryv3.DiscoveryRequest) error {
	if detail := request.GetErrorDetail(); detail != nil {
		return errors.New(detail.GetMessage())
	}
	return nil
}
