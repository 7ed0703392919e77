package listener

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "quic-preferred-address",
	Severity: lint.Error,
	Summary:  "the preferred address of a QUIC server is not an IP address of its family, or has an invalid port",
	Links: []string{
		"FixedServerPreferredAddressConfigFactory (source/extensions/quic/server_preferred_address/fixed_server_preferred_address_config.cc)",
		"DataSourceServerPreferredAddressConfigFactory (source/extensions/quic/server_preferred_address/datasource_server_preferred_address_config.cc)",
	},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if !overQUIC(l) {
			return
		}
		any := l.GetUdpListenerConfig().GetQuicOptions().GetServerPreferredAddressConfig().GetTypedConfig()
		m, own := envoy.Content(at.Field("udp_listener_config", "quic_options", "server_preferred_address_config", "typed_config"), any)
		if m == nil {
			return
		}
		check := map[protoreflect.Name]func(preferred, protoreflect.Message){
			"FixedServerPreferredAddressConfig":      preferred.fixed,
			"DataSourceServerPreferredAddressConfig": preferred.fromSource,
		}[m.ProtoReflect().Descriptor().Name()]
		if check == nil {
			return
		}
		check(preferred{p, own, 4}, m.ProtoReflect())
		check(preferred{p, own, 6}, m.ProtoReflect())
	}),
})

// preferred checks the address of one family, 4 or 6.
type preferred struct {
	p      *lint.Pass
	at     lint.At
	family int
}

func (f preferred) fixed(m protoreflect.Message) {
	config := fmt.Sprintf("ipv%d_config", f.family)
	family := sub(m, config)
	if family == nil {
		name := fmt.Sprintf("ipv%d_address", f.family)
		text := m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name))).String()
		if _, ok := quicIP(text); text != "" && !ok {
			f.malformed(f.at.Field(name), text, "bad v%d server preferred address")
		}
		return
	}
	own := f.at.Field(config)
	main, _ := sub(family.ProtoReflect(), "address").(*corev3.SocketAddress)
	dnat, _ := sub(family.ProtoReflect(), "dnat_address").(*corev3.SocketAddress)
	if dnat != nil && main == nil {
		f.p.Reject(own.Field("dnat_address").Key(), lint.Rejection{
			Message:  "there is a dnat_address, but no address",
			Help:     "add address",
			Upstream: fmt.Sprintf("'dnat_address' but not 'address' is set in server preferred address for v%d", f.family),
		})
		return
	}
	if main != nil && f.socket(own.Field("address"), main) && dnat == nil && main.GetPortValue() != 0 {
		f.p.Reject(own.Field("address", "port_value"), lint.Rejection{
			Message:  "without a dnat_address, the port is that of the listener",
			Help:     "write port_value: 0",
			Upstream: "'address' port must be zero unless 'dnat_address' is set",
		})
	}
	if dnat != nil && f.socket(own.Field("dnat_address"), dnat) && dnat.GetPortValue() != 0 {
		f.p.Reject(own.Field("dnat_address", "port_value"), lint.Rejection{
			Message:  "a dnat_address cannot have a port",
			Help:     "write port_value: 0",
			Upstream: "port must be 0 in this version of Envoy",
		})
	}
}

// socket reports whether an address is one of the family.
func (f preferred) socket(at lint.At, s *corev3.SocketAddress) bool {
	if envoy.MalformedIP(s.GetAddress()) {
		if s.GetAddress() != "" { // an empty one breaks a constraint
			f.malformed(at.Field("address"), s.GetAddress(), "Invalid address")
		}
		return false
	}
	ip, ok := envoy.ParseIP(s.GetAddress())
	if !ok || ip.Is4() == (f.family == 4) {
		return ok
	}
	f.other(at.Field("address"), s.GetAddress(), "wrong address type for v%d server preferred address")
	return false
}

func (f preferred) fromSource(m protoreflect.Message) {
	config := fmt.Sprintf("ipv%d_config", f.family)
	family := sub(m, config)
	if family == nil {
		return
	}
	own := f.at.Field(config)
	dnat := sub(family.ProtoReflect(), "dnat_address")
	port, _ := sub(family.ProtoReflect(), "port").(*corev3.DataSource)
	f.source(own.Field("address"), sub(family.ProtoReflect(), "address"))
	if port != nil && dnat == nil {
		f.p.Reject(own.Field("port").Key(), lint.Rejection{
			Message:  "without a dnat_address, the port is that of the listener",
			Help:     "remove port",
			Upstream: "port must be unset unless 'dnat_address' is set",
		})
	} else if text, at, inline := inlined(own.Field("port"), port); inline && text != "" && !isPort(text) {
		f.p.Reject(at, lint.Rejection{
			Message:  fmt.Sprintf("%q is not a port", text),
			Help:     "write a number up to 65535",
			Upstream: fmt.Sprintf("server preferred address v%d port was not a valid port", f.family),
		})
	}
	f.source(own.Field("dnat_address"), dnat)
}

func (f preferred) source(at lint.At, m proto.Message) {
	d, _ := m.(*corev3.DataSource)
	text, at, ok := inlined(at, d)
	if !ok || text == "" { // Envoy has a general error for empty data sources
		return
	}
	ip, ok := quicIP(strings.Trim(text, " \t\n\v\f\r"))
	if !ok {
		f.malformed(at, text, "bad v%d server preferred address")
	} else if ip.Is4() != (f.family == 4) {
		f.other(at, text, "wrong address family for v%d server preferred address")
	}
}

func (f preferred) malformed(at lint.At, text, upstream string) {
	f.p.Reject(at, lint.Rejection{
		Message:  fmt.Sprintf("%q is not an IP address", text),
		Help:     check.AddressHelp(text),
		Upstream: f.upstream(upstream) + ": " + text,
	})
}

func (f preferred) other(at lint.At, text, upstream string) {
	f.p.Reject(at, lint.Rejection{
		Message:  fmt.Sprintf("%q is not an IPv%d address", text, f.family),
		Help:     fmt.Sprintf("write an IPv%d address, or move this one to the other family", f.family),
		Upstream: f.upstream(upstream) + ": " + text,
	})
}

func (f preferred) upstream(format string) string {
	return strings.ReplaceAll(format, "%d", strconv.Itoa(f.family))
}

// quicIP follows QuicIpAddress::FromString, which does not support zones.
func quicIP(text string) (netip.Addr, bool) {
	ip, ok := envoy.ParseIP(text)
	return ip, ok && ip.Zone() == ""
}

// isPort follows absl::SimpleAtoi and Envoy's check of the range.
func isPort(text string) bool {
	_, err := strconv.ParseUint(strings.TrimPrefix(strings.Trim(text, " \t\n\v\f\r"), "+"), 10, 16)
	return err == nil
}

// inlined returns the text of a data source in the configuration itself, with its place.
func inlined(at lint.At, d *corev3.DataSource) (string, lint.At, bool) {
	switch text := d.GetSpecifier().(type) {
	case *corev3.DataSource_InlineString:
		return text.InlineString, at.Field("inline_string"), true
	case *corev3.DataSource_InlineBytes:
		return string(text.InlineBytes), at.Field("inline_bytes"), true
	}
	return "", at, false
}

// sub returns the message in a field, nil if it is not set.
func sub(m protoreflect.Message, field string) proto.Message {
	fd := m.Descriptor().Fields().ByName(protoreflect.Name(field))
	if fd == nil || !m.Has(fd) {
		return nil
	}
	return m.Get(fd).Message().Interface()
}
