package resolve

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/internal/strict"
)

// RPC is what a program calls on a channel or, without the target of a channel, what comes to a server.
type RPC struct {
	Target    string   `json:"target,omitempty"`    // of the channel: xds:///service:port, or xds://authority/service:port
	Authority string   `json:"authority,omitempty"` // of the channel; empty: as the target says, or the address of the server
	Method    string   `json:"method"`              // /package.Service/Method
	Headers   []Header `json:"headers,omitempty"`   // the metadata

	// To a server.
	Listener    string `json:"listener,omitempty"`    // its name, where several have the port
	Port        uint32 `json:"port,omitempty"`        // of the server; not needed if there is one
	Source      string `json:"source,omitempty"`      // address of the connection, or address:port
	Destination string `json:"destination,omitempty"` // address to which the client connects, if the server listens on all
	ClientCert  string `json:"client_cert,omitempty"` // a name in the certificate of the client, a URI or a DNS name
}

// Header is an entry of the metadata.
type Header [2]string

// UnmarshalJSON reads a list of a name and a value.
func (h *Header) UnmarshalJSON(text []byte) (err error) {
	*h, err = strict.Pair(text)
	return err
}

// endpoint splits the target of a channel into the authority of the listener's name and the service.
func (r *RPC) endpoint() (authority, service string, err error) {
	u, err := url.Parse(r.Target)
	if err != nil || u.Scheme != "xds" || u.Path+u.Opaque == "" {
		return "", "", fmt.Errorf("%q is not a target such as xds:///orders.shop:443", r.Target)
	}
	service = u.Path
	if service == "" {
		service = u.Opaque
	}
	return u.Host, strings.TrimPrefix(service, "/"), nil
}

// host returns the name that domains are compared with (ClientConn.initAuthority).
func (r *RPC) host(service string) string {
	switch {
	case r.Authority != "":
		return r.Authority
	case strings.HasPrefix(service, ":"):
		return "localhost" + escaped(service)
	}
	return escaped(service)
}

// escaped percent-encodes what an authority cannot have (encodeAuthority).
func escaped(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-_.~!$&'()*+,;=:[]@", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// metadata returns what header matchers see: what the program sends, by names in lower case. When grpc-go chooses a route, content-type is not
// there yet, and binary headers are (configSelector.SelectConfig).
func (r *RPC) metadata() map[string][]string {
	all := map[string][]string{}
	for _, h := range r.Headers {
		name := strings.ToLower(h[0])
		all[name] = append(all[name], h[1])
	}
	return all
}

// listenerName returns the name of the listener that the client asks for.
func (w *walk) listenerName(authority, service string) (string, bool) {
	b := w.client.Bootstrap
	if b == nil {
		b = &grpc.Bootstrap{Authorities: map[string]string{authority: ""}}
	}
	return b.ListenerName(authority, service)
}

// isMethod reports whether a text is the path of an RPC.
func isMethod(text string) bool {
	parts := strings.Split(text, "/")
	return len(parts) == 3 && parts[0] == "" && !slices.Contains(parts[1:], "")
}
