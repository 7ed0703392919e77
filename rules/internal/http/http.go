// Package http holds the rules about the HTTP connection manager and its filters.
package http

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
)

// Rules is the group. Each rule adds itself.
var Rules = &lint.Group{Name: "http", Summary: "the HTTP connection manager and its filters", Family: dataplane.Envoy}

// each calls f for the connection managers that Envoy creates with a listener: its network filters, and the default_config of
// those from ECDS. It skips those of an api_listener and those in the config dump of a running Envoy.
func each(f func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		if l, ok := listenerOf(at); ok && at.Resource().State == "" && l.GetApiListener() == nil {
			f(p, at, m)
		}
	})
}

// eachManager calls f for the connection managers of listeners, also of those that a running Envoy has.
func eachManager(f func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		if _, ok := listenerOf(at); ok {
			f(p, at, m)
		}
	})
}

// listenerOf returns the listener that has a connection manager as a network filter.
func listenerOf(at lint.At) (*listenerv3.Listener, bool) {
	place := at.Place.Parent
	for place != nil && isWrapping(place.Message.Descriptor().FullName()) {
		place = place.Parent
	}
	if place == nil || place.Message.Descriptor().FullName() != "envoy.config.listener.v3.Filter" {
		return nil, false
	}
	l, where := graph.Around[*listenerv3.Listener](at.Place)
	return l, where != nil
}

func isWrapping(name protoreflect.FullName) bool {
	return name == "google.protobuf.Any" || name == "envoy.config.core.v3.ExtensionConfigSource" || decode.IsTypedStruct(name)
}

// filterList is the list of HTTP filters of a connection manager or of one of its upgrades.
type filterList struct {
	filters []*hcmv3.HttpFilter
	at      lint.At // the message that holds the list
	field   string
	kind    string // Envoy's name for the chain
}

func (l filterList) item(i int) lint.At { return l.at.Item(l.field, i) }

func filterLists(at lint.At, m *hcmv3.HttpConnectionManager) []filterList {
	all := []filterList{{m.GetHttpFilters(), at, "http_filters", "http"}}
	for i, upgrade := range m.GetUpgradeConfigs() {
		all = append(all, filterList{upgrade.GetFilters(), at.Item("upgrade_configs", i), "filters", "http upgrade"})
	}
	return all
}

// factoryType returns the type by which Envoy finds a filter: the type of its configuration, or the one that a TypedStruct names. The
// content is nil if it did not decode.
func factoryType(at lint.At, config *anypb.Any) (name protoreflect.FullName, content proto.Message) {
	if config == nil {
		return "", nil
	}
	name, content = decode.TypeName(config.GetTypeUrl()), at.Content(config)
	if !decode.IsTypedStruct(name) {
		return name, content
	}
	if content == nil {
		return "", nil
	}
	m := content.ProtoReflect()
	fields := m.Descriptor().Fields()
	return decode.TypeName(m.Get(fields.ByName("type_url")).String()), at.Content(m.Get(fields.ByName("value")).Message().Interface())
}
