package transitions

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/lint"
)

// place is the environment that a case needs: ports for its listeners, servers for its endpoints, certificates. Both snapshots of the case are moved to
// the same place, so that their equal parts stay equal.
type place struct {
	transport lint.Transport
	authority *authority
	ports     map[string]*heldPort // of listeners, by the address in the files
	upstreams map[string]*upstream
	speeches  map[string]speech // of upstreams, by the address in the files
	slow      time.Duration     // of the first health check of upstreams to come
	filler    int               // routes for each virtual host that no request takes
	errs      []error
}

func newPlace(transport lint.Transport) (*place, error) {
	a, err := newAuthority()
	return &place{transport: transport, authority: a, ports: map[string]*heldPort{}, upstreams: map[string]*upstream{}, speeches: map[string]speech{}}, err
}

func (p *place) close() {
	for _, u := range p.upstreams {
		u.close()
	}
	for _, port := range p.ports {
		port.release()
	}
}

// move returns a copy of a resource that can run on this machine.
func (p *place) move(m proto.Message) (proto.Message, error) {
	m = proto.Clone(m)
	rewrite(m, p.edit)
	return m, errors.Join(p.errs...)
}

func (p *place) edit(m proto.Message) {
	switch m := m.(type) {
	case *listenerv3.Listener:
		p.note(p.listen(m.GetAddress()))
		for _, more := range m.GetAdditionalAddresses() {
			p.note(p.listen(more.GetAddress()))
		}
	case *endpointv3.Endpoint:
		p.note(p.serve(m.GetAddress()))
		for _, more := range m.GetAdditionalAddresses() {
			p.note(p.serve(more.GetAddress()))
		}
	case *hcmv3.HttpConnectionManager:
		m.LocalReplyConfig = &hcmv3.LocalReplyConfig{BodyFormat: localReply()}
	case *routev3.VirtualHost:
		fill(m, p.filler)
	case *corev3.ConfigSource:
		p.source(m)
	case *tlsv3.TlsCertificate, *tlsv3.CertificateValidationContext:
		p.note(p.authority.fill(m))
	}
}

// fill adds routes that no request takes.
func fill(host *routev3.VirtualHost, n int) {
	for i := range n {
		host.Routes = append(host.Routes, &routev3.Route{
			Match: &routev3.RouteMatch{
				PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: fmt.Sprintf("/archive/%d", i)},
				Headers:       []*routev3.HeaderMatcher{{Name: "x-archive", HeaderMatchSpecifier: &routev3.HeaderMatcher_PresentMatch{PresentMatch: true}}},
			},
			Action: &routev3.Route_DirectResponse{DirectResponse: &routev3.DirectResponseAction{Status: http.StatusGone}},
		})
	}
}

func (p *place) note(err error) {
	if err != nil {
		p.errs = append(p.errs, err)
	}
}

// listen replaces a listener's address by a port of this machine.
func (p *place) listen(a *corev3.Address) error {
	socket := a.GetSocketAddress()
	if socket == nil {
		return nil
	}
	key := addressKey(socket)
	if p.ports[key] == nil {
		port, err := holdPort()
		if err != nil {
			return err
		}
		p.ports[key] = port
	}
	socket.Address, socket.PortSpecifier = "127.0.0.1", &corev3.SocketAddress_PortValue{PortValue: p.ports[key].number}
	return nil
}

// serve starts a server for an endpoint's address.
func (p *place) serve(a *corev3.Address) error {
	socket := a.GetSocketAddress()
	if socket == nil {
		return nil
	}
	key := addressKey(socket)
	if p.upstreams[key] == nil {
		certificate, err := p.authority.pair("upstream")
		if err != nil {
			return err
		}
		u, err := startUpstream(key, certificate, p.speeches[key], p.slow)
		if err != nil {
			return err
		}
		p.upstreams[key] = u
	}
	socket.Address, socket.PortSpecifier = "127.0.0.1", &corev3.SocketAddress_PortValue{PortValue: p.upstreams[key].port}
	return nil
}

func addressKey(a *corev3.SocketAddress) string {
	return net.JoinHostPort(a.GetAddress(), strconv.Itoa(int(a.GetPortValue())))
}

// source points to the control plane, over the transport of the run.
func (p *place) source(c *corev3.ConfigSource) {
	if c.GetApiConfigSource() == nil && (c.GetAds() == nil || p.transport.ADS()) {
		return
	}
	transport := p.transport
	if c.GetApiConfigSource().GetApiType() == corev3.ApiConfigSource_DELTA_GRPC {
		transport = lint.Delta // VHDS has no other
	}
	c.ResourceApiVersion = corev3.ApiVersion_V3
	c.ConfigSourceSpecifier = &corev3.ConfigSource_ApiConfigSource{ApiConfigSource: apiSource(transport)}
}

func apiSource(t lint.Transport) *corev3.ApiConfigSource {
	api := corev3.ApiConfigSource_GRPC
	if t.Incremental() {
		api = corev3.ApiConfigSource_DELTA_GRPC
	}
	return &corev3.ApiConfigSource{
		ApiType: api, TransportApiVersion: corev3.ApiVersion_V3,
		GrpcServices: []*corev3.GrpcService{{TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
			EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: controlPlaneCluster},
		}}},
	}
}

// flagsMark begins the body of each answer that comes from Envoy itself.
const flagsMark = "F="

func localReply() *corev3.SubstitutionFormatString {
	return &corev3.SubstitutionFormatString{Format: &corev3.SubstitutionFormatString_TextFormatSource{
		TextFormatSource: &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{
			InlineString: flagsMark + "%RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%",
		}},
	}}
}
