package transitions

import (
	"context"
	"fmt"
	"net"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterservice "github.com/envoyproxy/go-control-plane/envoy/service/cluster/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	endpointservice "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	extensionservice "github.com/envoyproxy/go-control-plane/envoy/service/extension/v3"
	listenerservice "github.com/envoyproxy/go-control-plane/envoy/service/listener/v3"
	routeservice "github.com/envoyproxy/go-control-plane/envoy/service/route/v3"
	secretservice "github.com/envoyproxy/go-control-plane/envoy/service/secret/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/lint"
)

// controlPlane is a go-control-plane server for one Envoy, with a delay between them.
type controlPlane struct {
	cache  cachev3.SnapshotCache
	server *grpc.Server
	stop   context.CancelFunc
	proxy  *proxy
}

// node is the name under which envoytest starts Envoy.
const node = "n"

const controlPlaneCluster = "control-plane"

func startControlPlane(callbacks serverv3.Callbacks, transport lint.Transport, rtt time.Duration) (*controlPlane, error) {
	cp := &controlPlane{}
	address, err := cp.listen(callbacks, transport)
	if err != nil {
		return nil, err
	}
	if cp.proxy, err = startProxy(address, rtt/2); err != nil {
		cp.close()
		return nil, err
	}
	return cp, nil
}

// listen begins to serve an empty cache, and returns the address.
func (cp *controlPlane) listen(callbacks serverv3.Callbacks, transport lint.Transport) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithCancel(context.Background())
	cp.cache, cp.server, cp.stop = cachev3.NewSnapshotCache(transport.ADS(), cachev3.IDHash{}, silent{}), grpc.NewServer(), stop
	s := serverv3.NewServer(ctx, cp.cache, callbacks)
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(cp.server, s)
	clusterservice.RegisterClusterDiscoveryServiceServer(cp.server, s)
	endpointservice.RegisterEndpointDiscoveryServiceServer(cp.server, s)
	listenerservice.RegisterListenerDiscoveryServiceServer(cp.server, s)
	routeservice.RegisterRouteDiscoveryServiceServer(cp.server, s)
	routeservice.RegisterScopedRoutesDiscoveryServiceServer(cp.server, s)
	routeservice.RegisterVirtualHostDiscoveryServiceServer(cp.server, s)
	secretservice.RegisterSecretDiscoveryServiceServer(cp.server, s)
	extensionservice.RegisterExtensionConfigDiscoveryServiceServer(cp.server, s)
	server := cp.server
	go func() { _ = server.Serve(l) }()
	return l.Addr().String(), nil
}

// restart is what remains of a control plane that was killed and started again: its address.
func (cp *controlPlane) restart(callbacks serverv3.Callbacks, transport lint.Transport) error {
	cp.stop()
	cp.server.Stop()
	address, err := cp.listen(callbacks, transport)
	if err == nil {
		cp.proxy.turn(address)
	}
	return err
}

func (cp *controlPlane) close() {
	if cp.proxy != nil {
		cp.proxy.close()
	}
	cp.stop()
	cp.server.Stop()
}

// silent is a logger without output: by default, go-control-plane writes to the standard logger.
type silent struct{}

func (silent) Debugf(string, ...any) {}
func (silent) Infof(string, ...any)  {}
func (silent) Warnf(string, ...any)  {}
func (silent) Errorf(string, ...any) {}

// serve starts an Envoy that gets its configuration from here, and returns once it has the first one.
func (cp *controlPlane) serve(ctx context.Context, transport lint.Transport, own *bootstrapv3.Bootstrap) (*envoytest.Envoy, error) {
	text, err := bootstrap(transport, cp.proxy.port(), own)
	if err != nil {
		return nil, err
	}
	return envoytest.Serve(ctx, text, ".json")
}

const connection = `{
	"staticResources": {"clusters": [{
		"name": %[1]q, "type": "STATIC", "connectTimeout": "5s",
		"typedExtensionProtocolOptions": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
			"@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
			"explicitHttpConfig": {"http2ProtocolOptions": {}}}},
		"loadAssignment": {"clusterName": %[1]q, "endpoints": [{"lbEndpoints": [{"endpoint":
			{"address": {"socketAddress": {"address": "127.0.0.1", "portValue": %[2]d}}}}]}]}}]},
	"dynamicResources": %[3]s}`

// bootstrap returns the bootstrap of the case, if it has one, with this control plane as the only one.
func bootstrap(transport lint.Transport, port int, own *bootstrapv3.Bootstrap) (string, error) {
	source, err := protojson.Marshal(apiSource(transport))
	if err != nil {
		return "", err
	}
	dynamic := fmt.Sprintf(`{"adsConfig": %s, "cdsConfig": {"ads": {}, "resourceApiVersion": "V3"}, "ldsConfig": {"ads": {}, "resourceApiVersion": "V3"}}`, source)
	if !transport.ADS() {
		dynamic = fmt.Sprintf(`{"cdsConfig": {"apiConfigSource": %[1]s, "resourceApiVersion": "V3"}, "ldsConfig": {"apiConfigSource": %[1]s, "resourceApiVersion": "V3"}}`, source)
	}
	b := &bootstrapv3.Bootstrap{}
	if err := protojson.Unmarshal(fmt.Appendf(nil, connection, controlPlaneCluster, port, dynamic), b); err != nil {
		return "", err
	}
	if own != nil {
		own = proto.Clone(own).(*bootstrapv3.Bootstrap)
		own.DynamicResources, own.Admin, own.Node = nil, nil, nil
		proto.Merge(b, own)
	}
	text, err := protojson.Marshal(b)
	return string(text), err
}
