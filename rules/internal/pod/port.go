package pod

import (
	"fmt"
	"iter"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/kube"
	"github.com/xdslint/xdslint/lint"
)

// socket is where Envoy takes connections or packets.
type socket struct {
	at      lint.At
	port    uint32
	udp     bool
	outside bool // from other machines too
}

func (s socket) is(port int, udp bool) bool { return s.port == uint32(port) && s.udp == udp }

// sockets returns all sockets of Envoy. ok is false if it may have others.
func sockets(p *lint.Pass) (all []socket, ok bool) {
	ok = p.Snapshot.World(graph.Listener, graph.Anywhere) == graph.Closed && !p.Snapshot.Unread(graph.Listener) && !p.Snapshot.Unread(graph.Bootstrap)
	add := func(at lint.At, a *corev3.Address) {
		if a.GetPipe() != nil || a.GetEnvoyInternalAddress() != nil {
			return
		}
		s := a.GetSocketAddress()
		_, ip := envoy.ParseIP(s.GetAddress())
		if s.GetPortValue() == 0 || !ip {
			ok = false
			return
		}
		all = append(all, socket{at, s.GetPortValue(), s.GetProtocol() == corev3.SocketAddress_UDP, envoy.Public(a)})
	}
	for _, r := range p.Snapshot.All(graph.Listener) {
		l, decoded := r.Message.(*listenerv3.Listener)
		if !decoded || !envoy.Binds(l) || l.GetInternalListener() != nil {
			continue
		}
		add(r.At().Field("address"), l.GetAddress())
		for i, more := range l.GetAdditionalAddresses() {
			add(r.At().Item("additional_addresses", i).Field("address"), more.GetAddress())
		}
	}
	if b, r := p.Snapshot.Bootstrap(); b.GetAdmin().GetAddress() != nil {
		add(r.At().Field("admin", "address"), b.GetAdmin().GetAddress())
	}
	return all, ok
}

// unserved reports that no connection from outside of the pod to a port gets to Envoy.
func (w workload) unserved(p *lint.Pass, at lint.At, who string, port int, udp bool) {
	all, ok := sockets(p)
	if !ok || !w.owns(port) {
		return
	}
	d := lint.Diagnostic{
		Message: fmt.Sprintf("Envoy does not listen on port %d", port),
		Notes:   []string{"connections of " + who + " fail: connection refused"},
	}
	for _, s := range all {
		if !s.is(port, udp) {
			continue
		}
		if s.outside {
			return
		}
		d.Message = fmt.Sprintf("Envoy listens on port %d only for its own pod", port)
		d.Notes = []string{"connections of " + who + " go to the address of the pod, and fail: connection refused"}
		d.Help = "listen on 0.0.0.0, or name the port of another listener"
		d.Related = []lint.Related{lint.RelatedTo(s.at, "the address")}
	}
	p.Report(at, d)
}

// owns reports whether connections to a port of the pod get to Envoy or nowhere: other containers may listen on any port that Envoy's container
// does not name.
func (w workload) owns(port int) bool {
	if w.Pod.Redirects() {
		return false
	}
	if w.Pod.Alone() {
		return true
	}
	for named := range w.Field("ports").Items() {
		if n, _ := named.Field("containerPort").Int(); n == port {
			return true
		}
	}
	return false
}

// target is a port of a Service, and the port of a pod to which it leads.
type target struct {
	to   kube.Value // in the Service
	port int        // 0: no container has a port of the name
	udp  bool
}

// targets returns the ports of a Service in front of pods.
func targets(pod kube.Pod, service kube.Object) iter.Seq[target] {
	return func(yield func(target) bool) {
		for port := range service.Field("spec", "ports").Items() {
			to := port.Field("targetPort")
			if !to.Exists() {
				to = port.Field("port")
			}
			number, _ := pod.Port(to)
			if !yield(target{to, number, port.Field("protocol").Text() == "UDP"}) {
				return
			}
		}
	}
}

// eachTarget calls f for each port of each Service in front of a workload, until the rule is full. Of several workloads it names the first.
func eachTarget(f func(p *lint.Pass, service workload, t target)) lint.Check {
	return lint.EachResource(func(p *lint.Pass, r *graph.Resource) {
		for t := range targets(r.Runs.Pod, kube.Object{Value: kube.ValueOf(r.Text.Root())}) {
			if p.Full() {
				return
			}
			f(p, workload{r, r.Runs}, t)
		}
	}, graph.Service)
}
