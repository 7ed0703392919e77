package http

import (
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"

	headertometadatav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_to_metadata/v3"
	jsontometadatav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/json_to_metadata/v3"
	thrifttometadatav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/thrift_to_metadata/v3"
	thriftproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/thrift_proxy/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "metadata-rule-incomplete",
	Severity: lint.Error,
	Summary:  "a rule that turns a header or a body into metadata is incomplete, or contradicts itself",
	Links: []string{
		"Rule::Rule (source/extensions/filters/http/header_to_metadata/header_to_metadata_filter.cc)",
		"Rule::Rule (source/extensions/filters/http/json_to_metadata/filter.cc)",
		"Rule::Rule (source/extensions/filters/http/thrift_to_metadata/filter.cc)",
	},
	Run: read.Each(read.Of(headerToMetadata), read.Of(jsonToMetadata), read.Of(thriftToMetadata)),
})

func headerToMetadata(p *lint.Pass, at lint.At, m *headertometadatav3.Config) {
	for i, rule := range m.GetRequestRules() {
		headerRule(p, at.Item("request_rules", i), rule)
	}
	for i, rule := range m.GetResponseRules() {
		headerRule(p, at.Item("response_rules", i), rule)
	}
	if len(m.GetRequestRules())+len(m.GetResponseRules()) == 0 && perRoute(at) {
		rejectNoRules(p, at, "header_to_metadata_filter: Per filter configs must at least specify either request or response rules")
	}
}

func headerRule(p *lint.Pass, at lint.At, rule *headertometadatav3.Config_Rule) {
	header, cookie, present := rule.GetHeader(), rule.GetCookie(), rule.GetOnHeaderPresent()
	switch {
	case header != "" && cookie != "":
		p.Reject(at.Field("cookie").Key(), lint.Rejection{
			Message:  "the rule reads both a header and a cookie",
			Help:     "write two rules",
			Upstream: "Cannot specify both header and cookie in the same rule",
		})
	case header == "" && cookie == "":
		p.Reject(at, lint.Rejection{
			Message:  "the rule reads neither a header nor a cookie",
			Help:     "add header, or cookie",
			Upstream: "One of Cookie or Header option needs to be specified",
		})
	case present == nil && rule.GetOnHeaderMissing() == nil:
		p.Reject(at, lint.Rejection{
			Message:  "the rule has neither on_header_present nor on_header_missing",
			Help:     "add on_header_present with the key of the metadata",
			Upstream: fmt.Sprintf("header to metadata filter: rule for %s has neither `on_header_present` nor `on_header_missing` set", selected(header, cookie)),
		})
	//nolint:staticcheck // deprecated, and in use
	case present.GetValue() != "" && present.GetRegexValueRewrite() != nil:
		p.Reject(at.Field("on_header_present", "regex_value_rewrite").Key(), lint.Rejection{
			Message:  "value cannot be combined with regex_value_rewrite",
			Help:     "keep one of them",
			Upstream: "Cannot specify both value and regex_value_rewrite",
		})
	case cookie != "" && rule.GetRemove():
		p.Reject(at.Field("remove"), lint.Rejection{
			Message:  "a cookie cannot be removed",
			Help:     "leave remove out",
			Upstream: "Cannot specify remove for cookie",
		})
	//nolint:staticcheck // deprecated, and in use
	case rule.GetOnHeaderMissing() != nil && rule.GetOnHeaderMissing().GetValue() == "":
		p.Reject(at.Field("on_header_missing"), lint.Rejection{
			Message:  "on_header_missing does not have a value",
			Help:     "add value, the metadata of a request without the header",
			Upstream: "Cannot specify on_header_missing rule with an empty value",
		})
	}
}

func selected(header, cookie string) string {
	if header != "" {
		return fmt.Sprintf("header '%s'", header)
	}
	return fmt.Sprintf("cookie '%s'", cookie)
}

func jsonToMetadata(p *lint.Pass, at lint.At, m *jsontometadatav3.JsonToMetadata) {
	for _, side := range []struct {
		name  string
		rules []*jsontometadatav3.JsonToMetadata_Rule
	}{{"request_rules", m.GetRequestRules().GetRules()}, {"response_rules", m.GetResponseRules().GetRules()}} {
		for i, rule := range side.rules {
			own := at.Field(side.name).Item("rules", i)
			checkOutcomes(p, own, "json to metadata filter", rule.GetOnPresent() != nil, outcomeOf("on_missing", rule.GetOnMissing()), outcomeOf("on_error", rule.GetOnError()))
		}
	}
	if m.GetRequestRules() == nil && m.GetResponseRules() == nil && (perRoute(at) || p.Target.Before("1.37")) {
		rejectNoRules(p, at, "json_to_metadata_filter: Per filter configs must at least specify either request or response rules")
	}
}

func thriftToMetadata(p *lint.Pass, at lint.At, m *thrifttometadatav3.ThriftToMetadata) {
	for _, side := range []struct {
		name  string
		rules []*thrifttometadatav3.Rule
	}{{"request_rules", m.GetRequestRules()}, {"response_rules", m.GetResponseRules()}} {
		for i, rule := range side.rules {
			checkOutcomes(p, at.Item(side.name, i), "thrift to metadata filter", rule.GetOnPresent() != nil, outcomeOf("on_missing", rule.GetOnMissing()))
		}
	}
	if len(m.GetRequestRules())+len(m.GetResponseRules()) == 0 {
		rejectNoRules(p, at, "thrift_to_metadata filter: Per filter configs must at least specify either request or response rules")
	}
	if m.GetProtocol() == thriftproxyv3.ProtocolType_TWITTER {
		p.Reject(at.Field("protocol"), lint.Rejection{
			Message:  "the filter does not read the protocol TWITTER",
			Help:     "write BINARY, COMPACT or AUTO_PROTOCOL",
			Upstream: "thrift_to_metadata filter: Protocol TWITTER is not supported",
		})
	}
}

// outcome is what a rule writes if there is no value, or an error.
type outcome struct {
	field        string
	set, written bool // whether the field is there, and whether it has a value
}

type keyValue interface {
	comparable
	GetValue() *structpb.Value
}

func outcomeOf[M keyValue](field string, m M) outcome {
	var none M
	return outcome{field, m != none, m.GetValue() != nil}
}

func checkOutcomes(p *lint.Pass, at lint.At, filter string, onPresent bool, others ...outcome) {
	if missing := others[0]; !onPresent && !missing.set {
		p.Reject(at, lint.Rejection{
			Message:  "the rule has neither on_present nor on_missing",
			Help:     "add on_present with the key of the metadata",
			Upstream: filter + ": neither `on_present` nor `on_missing` set",
		})
		return
	}
	undecoded := envoy.UndecodedFieldsOf(at.Place)
	for _, o := range others {
		if o.set && !o.written && undecoded == nil {
			p.Reject(at.Field(o.field), lint.Rejection{
				Message:  o.field + " does not have a value",
				Help:     "add value, which becomes the metadata",
				Upstream: fmt.Sprintf("%s: cannot specify %s rule with empty value", filter, o.field),
			})
		}
	}
}

func rejectNoRules(p *lint.Pass, at lint.At, upstream string) {
	p.Reject(at, lint.Rejection{
		Message:  "the filter has neither request_rules nor response_rules",
		Help:     "add rules",
		Upstream: upstream,
	})
}
