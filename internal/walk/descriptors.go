package walk

import (
	"cmp"
	"maps"
	"strconv"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// descriptor is what a rate limit counts a request under.
type descriptor struct {
	entries []entry
	hits    uint64
}

type entry struct{ key, value string }

func (d descriptor) String() string {
	var all []string
	for _, e := range d.entries {
		all = append(all, e.key+": "+strconv.Quote(e.value))
	}
	return "(" + strings.Join(all, ", ") + ")"
}

// descriptors returns the descriptors of a request for a rate limit filter. why is not empty if they are not known.
func (j *journey) descriptors(v visit) (all []descriptor, why string) {
	var limits []envoy.RateLimit
	switch own, isOwn := v.ownRateLimits(); {
	case isOwn:
		limits = own
	case j.level == nil || j.level.Route.GetRoute() == nil:
		return nil, ""
	default:
		limits, _ = v.RateLimits(j.level)
	}
	for _, limit := range limits {
		m := limit.Message
		switch {
		case m.GetApplyOnStreamDone():
			continue
		case m.GetDisableKey() != "" && v.Kind == "local_ratelimit", m.GetDisableKey() != "" && j.disabled(m.GetDisableKey()):
			continue
		case m.GetHitsAddend().GetFormat() != "", m.GetHitsAddend() != nil && m.GetHitsAddend().GetNumber().GetValue() == 0:
			return nil, "hits_addend"
		}
		d, ok, why := j.descriptor(m)
		if why != "" {
			return nil, why
		}
		if ok {
			d.hits = max(m.GetHitsAddend().GetNumber().GetValue(), 1)
			all = append(all, d)
		}
	}
	return all, ""
}

// disabled reports whether the runtime turns off the rate limits of a key.
func (j *journey) disabled(key string) bool {
	return j.Share("ratelimit."+key+".http_filter_enabled", 100, 100) == match.No
}

// ownRateLimits returns the rate limits of the configuration of a local rate limit, which do not need a route.
func (v visit) ownRateLimits() (all []envoy.RateLimit, ok bool) {
	if v.Kind != "local_ratelimit" {
		return nil, false
	}
	config, _ := v.Config.(interface{ GetRateLimits() []*routev3.RateLimit })
	if own, has := v.own.(interface{ GetRateLimits() []*routev3.RateLimit }); has {
		config = own
	}
	for _, m := range config.GetRateLimits() {
		all = append(all, envoy.RateLimit{Message: m})
	}
	return all, len(all) > 0
}

// descriptor follows RateLimitPolicyEntryImpl::populateDescriptors. ok is false if the request does not have it.
func (j *journey) descriptor(m *routev3.RateLimit) (d descriptor, ok bool, why string) {
	for _, action := range m.GetActions() {
		e, ok, why := j.entry(action)
		if !ok || why != "" {
			return d, false, why
		}
		if e.key != "" {
			d.entries = append(d.entries, e)
		}
	}
	return d, true, ""
}

// entry follows DescriptorProducer::populateDescriptor. An entry without a key is left out.
func (j *journey) entry(action *routev3.RateLimit_Action) (e entry, ok bool, why string) {
	switch a := action.GetActionSpecifier().(type) {
	case *routev3.RateLimit_Action_GenericKey_:
		return j.formatted(cmp.Or(a.GenericKey.GetDescriptorKey(), "generic_key"), a.GenericKey.GetDescriptorValue())
	case *routev3.RateLimit_Action_DestinationCluster_:
		if len(j.answer.Weighted) > 0 {
			return e, false, "the cluster, which chance chooses"
		}
		return entry{"destination_cluster", j.answer.Target}, true, ""
	case *routev3.RateLimit_Action_RequestHeaders_:
		h := a.RequestHeaders
		all := j.headers.values(h.GetHeaderName())
		return present(entry{h.GetDescriptorKey(), strings.Join(all[:min(1, len(all))], "")}, len(all) > 0, h.GetSkipIfAbsent())
	case *routev3.RateLimit_Action_QueryParameters_:
		p := a.QueryParameters
		value, has := decodeQuery(j.headers.value(path)).first(p.GetQueryParameterName())
		return present(entry{cmp.Or(p.GetDescriptorKey(), "query_param"), value}, has, p.GetSkipIfAbsent())
	case *routev3.RateLimit_Action_RemoteAddress_:
		if !j.conn.known() {
			return e, false, "the address of the client"
		}
		return entry{"remote_address", j.conn.Source.Addr().String()}, true, ""
	case *routev3.RateLimit_Action_MaskedRemoteAddress_:
		return j.masked(a.MaskedRemoteAddress)
	case *routev3.RateLimit_Action_HeaderValueMatch_:
		m := a.HeaderValueMatch
		fits := j.fitsAll(m.GetHeaders(), j.headers)
		if fits == match.Perhaps {
			return e, false, "a matcher that is not known"
		}
		if (fits == match.Yes) != (m.GetExpectMatch() == nil || m.GetExpectMatch().GetValue()) {
			return e, false, ""
		}
		return j.formatted(cmp.Or(m.GetDescriptorKey(), "header_match"), m.GetDescriptorValue())
	case *routev3.RateLimit_Action_Metadata:
		return j.ofMetadata(a.Metadata)
	}
	return e, false, "an action that is not modelled"
}

func present(e entry, has, skip bool) (entry, bool, string) {
	if !has {
		return entry{}, skip, ""
	}
	return e, true, ""
}

func (j *journey) formatted(key, value string) (entry, bool, string) {
	made, why := j.format(value, j.headers)
	return entry{key, made}, true, why
}

func (j *journey) masked(a *routev3.RateLimit_Action_MaskedRemoteAddress) (e entry, ok bool, why string) {
	address := j.conn.Source.Addr()
	if !address.IsValid() {
		return e, false, "the address of the client"
	}
	bits, set := 32, a.GetV4PrefixMaskLen()
	if address.Is6() {
		bits, set = 128, a.GetV6PrefixMaskLen()
	}
	if set != nil {
		bits = int(set.GetValue())
	}
	network, err := address.Prefix(bits)
	if err != nil {
		return e, false, "a mask that does not fit the address"
	}
	return entry{"masked_remote_address", network.String()}, true, ""
}

// ofMetadata follows MetaDataAction::populateDescriptor.
func (j *journey) ofMetadata(a *routev3.RateLimit_Action_MetaData) (e entry, ok bool, why string) {
	from := j.metadata
	if a.GetSource() == routev3.RateLimit_Action_MetaData_ROUTE_ENTRY {
		from = metadata{}
		if j.level != nil {
			maps.Copy(from, j.level.Route.GetMetadata().GetFilterMetadata())
		}
	}
	if own, has := from[a.GetMetadataKey().GetKey()]; from == nil || has && own == nil {
		return e, false, "metadata that a filter writes"
	}
	value := structpb.NewStructValue(from[a.GetMetadataKey().GetKey()])
	for _, step := range a.GetMetadataKey().GetPath() {
		value = value.GetStructValue().GetFields()[step.GetKey()]
	}
	text := cmp.Or(value.GetStringValue(), a.GetDefaultValue())
	return present(entry{a.GetDescriptorKey(), text}, text != "", a.GetSkipIfAbsent())
}
