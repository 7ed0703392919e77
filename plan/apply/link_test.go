package apply

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// link is a stream.
type link struct {
	fake   *fake
	stream grpc.ClientStream
	cancel context.CancelFunc
	send   sync.Mutex
	asked  map[string]*asked // by type
}

type asked struct {
	names map[string]bool
	nonce string
}

var services = map[string]string{
	cds: "envoy.service.cluster.v3.ClusterDiscoveryService/%sClusters", eds: "envoy.service.endpoint.v3.EndpointDiscoveryService/%sEndpoints",
	lds: "envoy.service.listener.v3.ListenerDiscoveryService/%sListeners", rds: "envoy.service.route.v3.RouteDiscoveryService/%sRoutes",
}

// link returns the stream for a name of a type, and opens it if need be.
func (f *fake) link(url, name string) *link {
	key, method := "", "envoy.service.discovery.v3.AggregatedDiscoveryService/%sAggregatedResources"
	if !f.transport.ADS() {
		key, method = url+" "+name, services[url]
	}
	if l := f.streams[key]; l != nil {
		return l
	}
	how := "Stream"
	if f.transport.Incremental() {
		how = "Delta"
	}
	ctx, cancel := context.WithCancel(f.ctx)
	stream, err := f.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/"+fmt.Sprintf(method, how))
	if err != nil {
		f.t.Error(err)
	}
	l := &link{fake: f, stream: stream, cancel: cancel, asked: map[string]*asked{}}
	f.streams[key] = l
	f.done.Go(l.receive)
	return l
}

// subscribe requests exactly these names of a type.
func (f *fake) subscribe(url string, names []string) {
	if f.transport.ADS() {
		f.ask(url, names)
		return
	}
	for key, l := range f.streams {
		if a := l.asked[url]; a != nil && len(a.names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return a.names[n] }) {
			l.cancel()
			delete(f.streams, key)
		}
	}
	for _, name := range names {
		if f.streams[url+" "+name] == nil {
			f.ask(url, []string{name})
		}
	}
}

func (f *fake) ask(url string, names []string) {
	name := ""
	if len(names) > 0 {
		name = names[0]
	}
	l := f.link(url, name)
	before := l.asked[url]
	now := &asked{names: map[string]bool{}}
	for _, name := range names {
		now.names[name] = true
	}
	if before != nil {
		if maps.Equal(before.names, now.names) {
			return
		}
		now.nonce = before.nonce
	}
	l.asked[url] = now
	if !f.transport.Incremental() {
		l.sotw(url, now, now.nonce, "")
		return
	}
	r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: url}
	if before == nil {
		r.InitialResourceVersions = map[string]string{}
		for name, version := range f.versions[url] {
			if len(names) == 0 || now.names[name] {
				r.InitialResourceVersions[name] = version
			}
		}
	}
	for name := range now.names {
		if before == nil || !before.names[name] {
			r.ResourceNamesSubscribe = append(r.ResourceNamesSubscribe, name)
		}
	}
	if before != nil {
		for name := range before.names {
			if !now.names[name] {
				r.ResourceNamesUnsubscribe = append(r.ResourceNamesUnsubscribe, name)
				delete(f.versions[url], name)
			}
		}
	}
	l.write(r)
}

func (l *link) sotw(url string, a *asked, nonce, refused string) {
	r := &discoveryv3.DiscoveryRequest{
		TypeUrl: url, ResponseNonce: nonce, VersionInfo: l.fake.sotw[url], ResourceNames: slices.Sorted(maps.Keys(a.names)),
	}
	if refused != "" {
		r.ErrorDetail = &status.Status{Code: 13, Message: refused}
	}
	l.write(r)
}

func (l *link) write(m proto.Message) {
	node := &corev3.Node{Id: "edge"}
	switch r := m.(type) {
	case *discoveryv3.DiscoveryRequest:
		r.Node = node
	case *discoveryv3.DeltaDiscoveryRequest:
		r.Node = node
	}
	l.send.Lock()
	defer l.send.Unlock()
	_ = l.stream.SendMsg(m) // fails only when the stream is closed
}

// latency of an Envoy: without it, a control plane that does not wait would often pass by luck.
const latency = 5 * time.Millisecond

func (l *link) receive() {
	f := l.fake
	for {
		var url, nonce, version string
		var take func()
		if f.transport.Incremental() {
			r := &discoveryv3.DeltaDiscoveryResponse{}
			if l.stream.RecvMsg(r) != nil {
				return
			}
			url, nonce, version = r.GetTypeUrl(), r.GetNonce(), r.GetSystemVersionInfo()
			take = func() { f.takeDelta(r) }
		} else {
			r := &discoveryv3.DiscoveryResponse{}
			if l.stream.RecvMsg(r) != nil {
				return
			}
			url, nonce, version = r.GetTypeUrl(), r.GetNonce(), r.GetVersionInfo()
			take = func() { f.take(r) }
		}
		time.Sleep(latency)
		f.mu.Lock()
		if !f.closed {
			l.handle(url, nonce, version, take)
		}
		f.mu.Unlock()
	}
}

// handle processes a response as Envoy does: the resources that it refers to are requested before it is ACKed.
func (l *link) handle(url, nonce, version string, take func()) {
	f := l.fake
	l.asked[url].nonce = nonce
	refused := ""
	if url == f.refuses && strings.HasPrefix(version, "v2") {
		refused = "no such thing"
	}
	if refused == "" {
		take()
		f.check()
		switch url {
		case cds:
			f.subscribe(eds, f.wants(eds))
		case lds:
			if !f.drains {
				f.subscribe(rds, f.wants(rds))
			} else {
				f.subscribe(rds, append(f.wants(rds), f.asks(rds)...))
			}
		}
	}
	answer := func() {
		if f.transport.Incremental() {
			r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: url, ResponseNonce: nonce}
			if refused != "" {
				r.ErrorDetail = &status.Status{Code: 13, Message: refused}
			}
			l.write(r)
			return
		}
		l.sotw(url, l.asked[url], nonce, refused)
	}
	if waiting, ok := f.withheld[url]; ok {
		waiting[l] = answer
		return
	}
	answer()
}

func unpack(t *testing.T, a *anypb.Any) proto.Message {
	m, err := a.UnmarshalNew()
	if err != nil {
		t.Error(err)
		return nil
	}
	if wrapped, ok := m.(*discoveryv3.Resource); ok {
		return unpack(t, wrapped.GetResource())
	}
	return m
}

func (f *fake) take(r *discoveryv3.DiscoveryResponse) {
	url := r.GetTypeUrl()
	f.got = append(f.got, short(url)+" "+r.GetVersionInfo())
	f.sotw[url] = r.GetVersionInfo()
	before := f.has[url]
	if url == cds || url == lds {
		f.has[url] = map[string]proto.Message{}
	}
	for _, a := range r.GetResources() {
		m := unpack(f.t, a)
		name := cachev3.GetResourceName(m)
		f.wait(url, name, before[name], m)
		f.has[url][name] = m
	}
}

func (f *fake) takeDelta(r *discoveryv3.DeltaDiscoveryResponse) {
	url := r.GetTypeUrl()
	f.got = append(f.got, short(url)+" "+r.GetSystemVersionInfo())
	for _, one := range r.GetResources() {
		m := unpack(f.t, one.GetResource())
		f.wait(url, one.GetName(), f.has[url][one.GetName()], m)
		f.has[url][one.GetName()] = m
		f.versions[url][one.GetName()] = one.GetVersion()
	}
	for _, name := range r.GetRemovedResources() {
		if url == cds || url == lds { // Envoy ignores all others
			delete(f.has[url], name)
		}
		delete(f.versions[url], name)
	}
}

// wait records what a changed cluster waits for: over ADS Envoy does not ask for its endpoints again.
func (f *fake) wait(url, name string, before, after proto.Message) {
	switch {
	case url == eds:
		delete(f.waiting, name)
	case url == cds && f.transport.ADS() && before != nil && !proto.Equal(before, after):
		f.waiting[name] = true
	}
}
