package load

import (
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/tree"
)

// A binary message does not name its type. Each of these readers accepts it if all of its content fits.

// packed is one Any in its wire format.
type packed struct {
	url   string
	value []byte
	alias string     // the name in the wrapper around it
	empty bool       // a wrapper without a body
	text  *tree.Node // its place in a proto text

	version string // in the wrapper
	ttl     time.Duration
}

// binary is a message whose type was recognised from its wire format.
type binary struct {
	as        content
	bootstrap *bootstrapv3.Bootstrap
	resources []packed
	removed   []string // names
	typeURL   string
	version   string // of a response
}

// recogniseBinary tries the message types that files hold.
func recogniseBinary(raw []byte) *binary {
	for _, try := range []func([]byte) *binary{readDump, readResponse, readDelta, readAny, readBootstrap} {
		if b := try(raw); b != nil {
			return b
		}
	}
	return nil
}

// each calls f for every field of a message. It returns false if the bytes are not a message, or if f does.
func each(raw []byte, f func(number protowire.Number, value []byte, is protowire.Type) bool) bool {
	for len(raw) > 0 {
		number, is, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return false
		}
		raw = raw[n:]
		n = protowire.ConsumeFieldValue(number, is, raw)
		if n < 0 {
			return false
		}
		value := raw[:n]
		if is == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(raw)
		}
		if !f(number, value, is) {
			return false
		}
		raw = raw[n:]
	}
	return true
}

// count returns how often a message has a field.
func count(raw []byte, wanted protowire.Number) (n int) {
	each(raw, func(number protowire.Number, _ []byte, _ protowire.Type) bool {
		if number == wanted {
			n++
		}
		return true
	})
	return n
}

func unpack(raw []byte) (packed, bool) {
	var p packed
	ok := each(raw, func(number protowire.Number, value []byte, is protowire.Type) bool {
		switch number {
		case 1:
			p.url = string(value)
		case 2:
			p.value = value
		default:
			return false
		}
		return is == protowire.BytesType
	})
	return p, ok && plausible(p.url)
}

// plausible reports whether a text looks like a type URL.
func plausible(url string) bool {
	_, name, found := strings.Cut(url, "/")
	if !found || !strings.Contains(name, ".") {
		return false
	}
	return strings.IndexFunc(url, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// readResponse reads a DiscoveryResponse.
func readResponse(raw []byte) *binary {
	b := &binary{as: response, resources: make([]packed, 0, count(raw, 2))}
	ok := each(raw, func(number protowire.Number, value []byte, is protowire.Type) bool {
		switch number {
		case 2:
			p, ok := unpack(value)
			if ok && decode.TypeName(p.url) == discoveryPackage+"Resource" {
				p, ok = unwrap(p.value)
			}
			b.resources = append(b.resources, p)
			return ok && is == protowire.BytesType
		case 1:
			b.version = string(value)
		case 4:
			b.typeURL = string(value)
		case 3:
			return is == protowire.VarintType
		case 5, 6, 7:
		default:
			return false
		}
		return is == protowire.BytesType
	})
	return b.ifPlausible(ok)
}

// ifPlausible returns b if it was read to its end and names a type, else nil.
func (b *binary) ifPlausible(ok bool) *binary {
	if !ok || len(b.resources) == 0 && !plausible(b.typeURL) || b.typeURL != "" && !plausible(b.typeURL) {
		return nil
	}
	return b
}

// readDelta reads a DeltaDiscoveryResponse.
func readDelta(raw []byte) *binary {
	b := &binary{as: deltaResponse, resources: make([]packed, 0, count(raw, 2))}
	ok := each(raw, func(number protowire.Number, value []byte, is protowire.Type) bool {
		switch number {
		case 2:
			p, ok := unwrap(value)
			b.resources = append(b.resources, p)
			if !ok {
				return false
			}
		case 4:
			b.typeURL = string(value)
		case 6:
			b.removed = append(b.removed, string(value))
		case 1, 5, 7, 8, 9:
		default:
			return false
		}
		return is == protowire.BytesType
	})
	return b.ifPlausible(ok)
}

// unwrap reads an envoy.service.discovery.v3.Resource.
func unwrap(raw []byte) (packed, bool) {
	p := packed{empty: true}
	ok := each(raw, func(number protowire.Number, value []byte, is protowire.Type) bool {
		switch number {
		case 2:
			inner, ok := unpack(value)
			p.url, p.value, p.empty = inner.url, inner.value, false
			return ok && is == protowire.BytesType
		case 1:
			p.version = string(value)
		case 3:
			p.alias = string(value)
		case 6:
			var ttl durationpb.Duration
			if err := proto.Unmarshal(value, &ttl); err != nil {
				return false
			}
			p.ttl = ttl.AsDuration()
		case 4, 7, 8, 9:
		default:
			return false
		}
		return is == protowire.BytesType
	})
	return p, ok && (!p.empty || p.alias != "")
}

// readAny reads one resource in an Any.
func readAny(raw []byte) *binary {
	p, ok := unpack(raw)
	if !ok {
		return nil
	}
	return &binary{as: resources, resources: []packed{p}}
}

// readDump reads an envoy.admin.v3.ConfigDump; its sections are the resources.
func readDump(raw []byte) *binary {
	b := &binary{as: configDump}
	ok := each(raw, func(number protowire.Number, value []byte, is protowire.Type) bool {
		p, ok := unpack(value)
		b.resources = append(b.resources, p)
		return ok && number == 1 && is == protowire.BytesType && strings.Contains(p.url, "/"+adminPackage)
	})
	if !ok || len(b.resources) == 0 {
		return nil
	}
	return b
}

func readBootstrap(raw []byte) *binary {
	m := &bootstrapv3.Bootstrap{}
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(raw, m); err != nil || len(m.ProtoReflect().GetUnknown()) > 0 {
		return nil
	}
	if m.GetStaticResources() == nil && m.GetDynamicResources() == nil && m.GetAdmin() == nil && m.GetNode() == nil {
		return nil
	}
	return &binary{as: bootstrap, bootstrap: m}
}
