package protocol

import (
	"slices"
	"time"

	"github.com/xdslint/xdslint/internal/source"
)

// Event is one thing that happened on a stream: exactly one of the last fields is set. Events are
// in the order in which someone between the client and the server saw them, so a request may have been sent before the
// client got the response before it.
type Event struct {
	At     At
	Time   time.Time
	Stream string

	Opened   *Opened
	Request  *Request
	Response *Response
	Closed   *Closed
	// NotModified: a poll by REST is answered with that the client has the newest version.
	NotModified bool
}

// At is a place in a recording: a line of it.
type At struct {
	File *source.File
	Span source.Span
}

// Opened begins a stream.
type Opened struct {
	Delta   bool
	REST    bool   // it is the polls of a client
	TypeURL string // of a stream for one type; empty: aggregated
}

// Closed ends a stream.
type Closed struct {
	Server bool // the server has ended it, or the connection to it
	Client bool // the client has ended it
}

// Request is a DiscoveryRequest or a DeltaDiscoveryRequest.
type Request struct {
	TypeURL     string
	Nonce       string
	Version     string   // SotW: version_info
	Names       []string // SotW: all names; Delta: those that it subscribes to
	Unsubscribe []string
	Known       map[string]string // initial_resource_versions
	Node        string            // the whole node, to compare; empty: none
	Error       *Error            // nil: not a NACK
}

// Error is the error_detail of a NACK.
type Error struct{ Message string }

// Response is a DiscoveryResponse or a DeltaDiscoveryResponse.
type Response struct {
	TypeURL   string
	Nonce     string
	Version   string // version_info; of Delta, system_version_info, which is only for people
	Resources []Resource
	Removed   []string
}

// removed returns the names that it removes, and does not send.
func (p *Response) removed() []string {
	sent := map[string]bool{}
	for i := range p.Resources {
		sent[p.Resources[i].Name] = true
	}
	return slices.DeleteFunc(slices.Clone(p.Removed), func(name string) bool { return sent[name] })
}

// Resource is one resource of a response.
type Resource struct {
	Name    string // empty: not known
	Aliases []string
	Version string // its own: in Delta, and in SotW if it is wrapped
	TypeURL string
	Content uint64 // equal for equal contents
	// Opaque: the recording does not have all of the content, such as secrets, so it cannot be compared.
	Opaque     bool
	Wrapped    bool // SotW: in an envoy.service.discovery.v3.Resource
	TTL        bool
	Heartbeat  bool   // it renews the TTL, and has no content
	Unresolved bool   // its aliases name nothing, so it has no content
	Endpoints  string // of a cluster whose endpoints come from EDS: the name that it requests
}

// empty reports whether a resource has no content.
func (r *Resource) empty() bool { return r.Heartbeat || r.Unresolved }

// names returns the name of a resource and its aliases.
func (r *Resource) names() []string { return append([]string{r.Name}, r.Aliases...) }

// The types with a rule of their own.
const (
	listeners    = "type.googleapis.com/envoy.config.listener.v3.Listener"
	clusters     = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
	scopedRoutes = "type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration"
	endpoints    = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
	virtualHosts = "type.googleapis.com/envoy.config.route.v3.VirtualHost"
)
