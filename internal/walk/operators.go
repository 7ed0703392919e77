package walk

import (
	"strconv"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/structpb"
)

// moment is when headers are made: some operators have a value of their own at that time.
type moment int

const (
	otherwise  moment = iota
	forwarding        // the router makes the headers of the request
	answering         // the route answers itself
	responding        // the router passes the response of the upstream on
)

// settled are the operators whose value depends only on the moment.
var settled = map[moment]map[string]string{
	forwarding: {
		"RESPONSE_CODE": "0", "RESPONSE_FLAGS": "-", "RESPONSE_CODE_DETAILS": absent, "RESP": absent, "TRAILER": absent, "UPSTREAM_HOST": absent,
		"UPSTREAM_REQUEST_ATTEMPT_COUNT": "1",
	},
	answering: {
		"RESPONSE_CODE": "0", "RESPONSE_FLAGS": "-", "RESPONSE_CODE_DETAILS": directResponse, "UPSTREAM_CLUSTER": absent, "UPSTREAM_CLUSTER_RAW": absent,
		"UPSTREAM_REQUEST_ATTEMPT_COUNT": "0",
	},
	responding: {
		"RESPONSE_CODE": "200", "RESPONSE_FLAGS": "-", "RESPONSE_CODE_DETAILS": viaUpstream, "UPSTREAM_REQUEST_ATTEMPT_COUNT": "1",
	},
}

// making lets a function make headers at a moment.
func (j *journey) making(m moment, do func()) {
	j.moment = m
	do()
	j.moment = otherwise
}

// operateHere returns the value of an operator that depends on the moment, or on more than the connection.
func (j *journey) operateHere(name, argument string, h *headers) (value string, ok bool) {
	if value, ok = settled[j.moment][name]; ok {
		return value, true
	}
	switch name {
	case "QUERY_PARAM":
		if value, ok = decodeQuery(j.asRequest(h).value(path)).first(argument); !ok {
			value = absent
		}
		return value, true
	case "PATH":
		return pathOf(argument, j.asRequest(h))
	case "DYNAMIC_METADATA":
		namespace, _, _ := strings.Cut(argument, ":")
		if own, has := j.metadata[namespace]; j.metadata == nil || has && own == nil {
			return "", false
		}
		return metadataText(j.metadata, argument)
	}
	if j.moment != forwarding && j.moment != responding {
		return "", false
	}
	switch name {
	case "UPSTREAM_CLUSTER", "UPSTREAM_CLUSTER_RAW":
		target := j.upstreamName()
		found, _ := j.cluster(target)
		if found != nil && name == "UPSTREAM_CLUSTER" {
			if alternative := found.Message.(*clusterv3.Cluster).GetAltStatName(); alternative != "" {
				target = alternative
			}
		}
		return target, true
	case "METADATA":
		return j.configured(argument)
	}
	return "", false
}

// upstreamName is the cluster that gets the request.
func (j *journey) upstreamName() string {
	if j.level.Cluster != nil {
		return j.clusterOf(j.level.Cluster)
	}
	return j.answer.Target
}

// configured returns metadata of a part of the configuration: KIND:NAMESPACE:KEY.
func (j *journey) configured(argument string) (string, bool) {
	kind, rest, _ := strings.Cut(argument, ":")
	var m *corev3.Metadata
	switch kind {
	case "ROUTE":
		m = j.level.Route.GetMetadata()
	case "VIRTUAL_HOST":
		m = j.level.Host.GetMetadata()
	case "LISTENER":
		m = j.listener.GetMetadata()
	case "CLUSTER":
		found, _ := j.cluster(j.upstreamName())
		if found == nil {
			return "", false
		}
		m = found.Message.(*clusterv3.Cluster).GetMetadata()
	default:
		return "", false
	}
	return metadataText(m.GetFilterMetadata(), rest)
}

// metadataText returns a value by NAMESPACE:KEY:… as Envoy writes it. How Envoy writes objects and lists is not known.
func metadataText(all map[string]*structpb.Struct, argument string) (string, bool) {
	keys := strings.Split(argument, ":")
	value := structpb.NewStructValue(all[keys[0]])
	for _, key := range keys[1:] {
		if value = value.GetStructValue().GetFields()[key]; value == nil {
			return absent, true
		}
	}
	switch by := value.GetKind().(type) {
	case *structpb.Value_StringValue:
		return by.StringValue, true
	case *structpb.Value_BoolValue:
		return strconv.FormatBool(by.BoolValue), true
	case *structpb.Value_NumberValue:
		return strconv.FormatFloat(by.NumberValue, 'g', -1, 64), by.NumberValue < 1e6 && by.NumberValue > -1e6
	}
	return absent, all[keys[0]] == nil
}

// asRequest returns the headers of the request that belong to some headers.
func (j *journey) asRequest(h *headers) *headers {
	if h == &j.response {
		return j.headers
	}
	return h
}

// pathOf follows PathFormatter: with or without the query, before or after it is rewritten.
func pathOf(argument string, h *headers) (string, bool) {
	query, which, _ := strings.Cut(argument, ":")
	text, has := h.get(path)
	if original, rewritten := h.get("x-envoy-original-path"); which == "ORIG" || which != "PATH" && rewritten {
		text, has = original, rewritten
	}
	if !has {
		return absent, true
	}
	if query == "NQ" {
		text, _ = splitQuery(text)
	}
	return text, true
}
