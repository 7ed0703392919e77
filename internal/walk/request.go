package walk

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"github.com/xdslint/xdslint/internal/strict"
)

// Request is a request that a client sends.
type Request struct {
	Listener      Listener `json:"listener,omitzero"` // empty: the only one
	Method        string   `json:"method"`
	Authority     *string  `json:"authority"` // nil: none is sent
	Path          *string  `json:"path"`      // byte for byte; nil with CONNECT
	Headers       []Header `json:"headers,omitempty"`
	HTTP          string   `json:"http,omitempty"` // 1.0, 1.1 or 2; empty: 1.1
	TLS           bool     `json:"tls,omitempty"`
	SNI           string   `json:"sni,omitempty"`
	ALPN          []string `json:"alpn,omitempty"`
	ClientCert    Identity `json:"client_cert,omitzero"`
	Source        string   `json:"source,omitempty"`      // address, or address:port
	Destination   string   `json:"destination,omitempty"` // address:port
	ProxyProtocol *Proxied `json:"proxy_protocol,omitempty"`
	Scheme        string   `json:"scheme,omitempty"` // HTTP/2; empty: as the connection says
	BodyBytes     int      `json:"body_bytes,omitempty"`
	Nth           int      `json:"nth,omitempty"`     // of identical requests after the start; 0 is 1
	Passing       []string `json:"passing,omitempty"` // names of HTTP filters that are assumed to let the request pass as it is
}

// IsTLS reports whether the connection is TLS: it is if the request says something of the handshake.
func (r *Request) IsTLS() bool {
	return r.TLS || r.SNI != "" || len(r.ALPN) > 0 || r.ClientCert.Presented
}

// Header is a header of a request, or of an answer.
type Header [2]string

// UnmarshalJSON reads a list of a name and a value.
func (h *Header) UnmarshalJSON(text []byte) (err error) {
	*h, err = strict.Pair(text)
	return err
}

// Proxied is what the PROXY protocol says about a connection.
type Proxied struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
}

// Listener is the name or the port of a listener.
type Listener struct {
	Name string
	Port uint32
}

// MarshalJSON writes a string or a number.
func (l Listener) MarshalJSON() ([]byte, error) {
	if l.Name != "" {
		return json.Marshal(l.Name)
	}
	return json.Marshal(l.Port)
}

// UnmarshalJSON reads a string, a number or null.
func (l *Listener) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &l.Name)
	}
	return json.Unmarshal(text, &l.Port)
}

// Identity is the certificate of a client: the URI or DNS name in it. A client without one does not present a certificate.
type Identity struct {
	Presented bool
	Name      string
}

// MarshalJSON writes the name, or true if there is none, or null without a certificate.
func (i Identity) MarshalJSON() ([]byte, error) {
	switch {
	case !i.Presented:
		return []byte("null"), nil
	case i.Name == "":
		return []byte("true"), nil
	}
	return json.Marshal(i.Name)
}

// UnmarshalJSON reads what MarshalJSON writes, or false.
func (i *Identity) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		i.Presented = true
		return json.Unmarshal(text, &i.Name)
	}
	return json.Unmarshal(text, &i.Presented)
}

// headSize is the number of bytes from the first line to the empty one in HTTP/1.
func (r *Request) headSize() int {
	size := len(r.Method) + len(" HTTP/1.1\r\n") + len(" ") + len("\r\n")
	switch {
	case r.Path != nil:
		size += len(*r.Path)
	case r.Authority != nil:
		size += len(*r.Authority)
	}
	list := r.All()
	if r.Authority != nil {
		list = append(slices.Clip(list), Header{"host", *r.Authority})
	}
	for _, h := range list {
		size += len(h[0]) + len(": ") + len(h[1]) + len("\r\n")
	}
	return size
}

// address parses an address with or without a port.
func address(text string) (netip.AddrPort, error) {
	if text == "" {
		return netip.AddrPort{}, nil
	}
	if a, err := netip.ParseAddrPort(text); err == nil {
		return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), nil
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%q is not an IP address", text)
	}
	return netip.AddrPortFrom(a.Unmap(), 0), nil
}
