package envoy

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/proto"

	headerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_to_metadata/v3"
	jsonv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/json_to_metadata/v3"
	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	setv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/set_metadata/v3"
)

// JWTMetadata is the namespace to which jwt_authn writes, whatever the name of the filter is (Filter::setPayload in
// source/extensions/filters/http/jwt_authn/filter.cc).
const JWTMetadata = wellKnown + "jwt_authn"

// wellKnown is the beginning of the names that Envoy's documentation gives HTTP filters, which are also their namespaces.
const wellKnown = "envoy.filters.http."

// MetadataName names dynamic metadata of a request. An empty key means all keys of the namespace.
type MetadataName struct{ Namespace, Key string }

// Meets reports whether two names can be about the same metadata.
func (n MetadataName) Meets(o MetadataName) bool {
	return n.Namespace == o.Namespace && (n.Key == "" || o.Key == "" || n.Key == o.Key)
}

// WritesMetadata returns the dynamic metadata that a filter writes for the requests of some routes. known is false if that can be any.
func (f HTTPFilter) WritesMetadata(routes Routes) (all []MetadataName, known bool) {
	all, known = f.metadataOf(f.Config)
	if !known || !slices.Contains(metadataWriters, f.Kind) {
		return all, known
	}
	for l := range routes.Levels {
		if l.Configs[f.Message.GetName()] != nil {
			own, _ := f.metadataOf(l.Filter(f.Message.GetName(), false).Config)
			all = append(all, own...)
		}
	}
	return all, routes.Known
}

// metadataWriters are the filters that write where a configuration says, which can be that of a route.
var metadataWriters = []string{"header_to_metadata", "json_to_metadata", "set_metadata"}

func (f HTTPFilter) metadataOf(config proto.Message) (all []MetadataName, known bool) {
	add := func(pair interface {
		GetMetadataNamespace() string
		GetKey() string
	},
	) {
		if key := pair.GetKey(); key != "" {
			all = append(all, MetadataName{cmp.Or(pair.GetMetadataNamespace(), wellKnown+f.Kind), key})
		}
	}
	switch m := config.(type) {
	case *jwtv3.JwtAuthentication:
		for _, provider := range m.GetProviders() {
			for _, key := range []string{provider.GetPayloadInMetadata(), provider.GetHeaderInMetadata(), provider.GetFailedStatusInMetadata()} {
				if key != "" {
					all = append(all, MetadataName{JWTMetadata, key})
				}
			}
		}
	case *headerv3.Config:
		for _, rule := range slices.Concat(m.GetRequestRules(), m.GetResponseRules()) {
			add(rule.GetOnHeaderPresent())
			add(rule.GetOnHeaderMissing())
		}
	case *jsonv3.JsonToMetadata:
		for _, rule := range slices.Concat(m.GetRequestRules().GetRules(), m.GetResponseRules().GetRules()) {
			add(rule.GetOnPresent())
			add(rule.GetOnMissing())
			add(rule.GetOnError())
		}
	case *setv3.Config:
		for key := range m.GetValue().GetFields() { //nolint:staticcheck // deprecated, and in use
			all = append(all, MetadataName{m.GetMetadataNamespace(), key}) //nolint:staticcheck // the same
		}
		for _, one := range m.GetMetadata() {
			for key := range one.GetValue().GetFields() {
				all = append(all, MetadataName{one.GetMetadataNamespace(), key})
			}
		}
	default: // what these write comes from a service or the request, into their own namespace
		return []MetadataName{{Namespace: wellKnown + f.Kind}, {Namespace: f.Message.GetName()}}, f.Passive() || f.Authorizes()
	}
	return all, true
}
