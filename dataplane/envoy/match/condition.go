package match

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/xdslint/xdslint/internal/ascii"
)

type subject int

const (
	header subject = iota
	query
	cookie
	tls
	state // dynamic metadata and filter state
)

// condition is a condition of a match on something other than the path: which values fit, and whether a missing value fits.
type condition struct {
	of      subject
	name    string
	missing bool          // a request without it fits
	values  []text        // any of them fits
	not     bool          // any other value fits instead
	vague   bool          // not known exactly: it holds for no more than the rest says
	source  proto.Message // of a condition that is only compared as a whole
}

// headerCondition follows HeaderDataPresentMatch and HeaderDataBaseImpl::matchesHeaders (source/common/http/header_utility.h).
// With invert_match, too, a missing header does not fit, unless it counts as empty.
func headerCondition(m *routev3.HeaderMatcher) condition {
	c := condition{of: header, name: ascii.Lower(m.GetName())}
	invert, asEmpty := m.GetInvertMatch(), m.GetTreatMissingHeaderAsEmpty()
	if present, ok := presence(m); ok {
		if present != invert {
			c.values = []text{anything}
		}
		c.missing = invert == present
		if asEmpty {
			c.missing = present != invert
		}
		return c
	}
	c.values, c.not = []text{headerValue(m)}, invert
	if asEmpty {
		empty := c.values[0].has("")
		c.missing, c.vague = (empty == Yes) != invert || empty == Perhaps, empty == Perhaps
	}
	return c
}

func presence(m *routev3.HeaderMatcher) (present, ok bool) {
	switch s := m.GetHeaderMatchSpecifier().(type) {
	case *routev3.HeaderMatcher_PresentMatch:
		return s.PresentMatch, true
	case nil:
		return true, true
	}
	return false, false
}

func headerValue(m *routev3.HeaderMatcher) text {
	switch s := m.GetHeaderMatchSpecifier().(type) { // Envoy still takes what is deprecated
	case *routev3.HeaderMatcher_StringMatch:
		return textOf(s.StringMatch)
	case *routev3.HeaderMatcher_ExactMatch:
		if s.ExactMatch == "" {
			return anything
		}
		return newText(is, s.ExactMatch, false)
	case *routev3.HeaderMatcher_PrefixMatch:
		return newText(begins, s.PrefixMatch, false)
	case *routev3.HeaderMatcher_SuffixMatch:
		return newText(ends, s.SuffixMatch, false)
	case *routev3.HeaderMatcher_ContainsMatch:
		return newText(contains, s.ContainsMatch, false)
	case *routev3.HeaderMatcher_SafeRegexMatch:
		return textOfRegex(s.SafeRegexMatch.GetRegex())
	case *routev3.HeaderMatcher_RangeMatch:
		return numberText(s.RangeMatch.GetStart(), s.RangeMatch.GetEnd())
	}
	return text{form: other}
}

// numberText follows HeaderDataRangeMatch: absl::SimpleAtoi parses the value.
func numberText(start, end int64) text {
	return text{form: other, same: fmt.Sprintf("from %d to %d", start, end), check: func(s string) Overlap {
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		return certain(err == nil && start <= n && n < end)
	}}
}

// grpcCondition follows Grpc::Common::isGrpcRequestHeaders (source/common/grpc/common.cc).
func grpcCondition() condition {
	return condition{of: header, name: "content-type", values: []text{newText(is, "application/grpc", false), newText(begins, "application/grpc+", false)}}
}

// queryCondition follows ConfigUtility::QueryParameterMatcher::matches (source/common/router/config_utility.cc).
func queryCondition(m *routev3.QueryParameterMatcher) condition {
	c := condition{of: query, name: m.GetName(), values: []text{anything}}
	switch s := m.GetQueryParameterMatchSpecifier().(type) {
	case *routev3.QueryParameterMatcher_StringMatch:
		c.values = []text{textOf(s.StringMatch)}
	case *routev3.QueryParameterMatcher_PresentMatch:
		if !s.PresentMatch {
			c.missing, c.values = true, nil
		}
	}
	return c
}

// cookieCondition follows Envoy 1.37: a missing cookie does not fit, and so fits with invert_match.
func cookieCondition(m *routev3.CookieMatcher) condition {
	return condition{of: cookie, name: m.GetName(), missing: m.GetInvertMatch(), values: []text{textOf(m.GetStringMatch())}, not: m.GetInvertMatch()}
}

// tlsConditions follows RouteEntryImplBase::evaluateTlsContextMatch.
func tlsConditions(m *routev3.RouteMatch_TlsContextMatchOptions) (all []condition) {
	add := func(name string, v *wrapperspb.BoolValue) {
		if v != nil {
			all = append(all, condition{of: tls, name: name, values: []text{newText(is, strconv.FormatBool(v.GetValue()), false)}})
		}
	}
	add("presented", m.GetPresented())
	add("validated", m.GetValidated())
	return all
}

// stateCondition is for matchers that are only compared as a whole: the name is the encoded matcher.
func stateCondition(m proto.Message) condition {
	c := condition{of: state, vague: hasAny(m.ProtoReflect()), source: m}
	// The bytes before an error are good enough as a name.
	bytes, _ := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(m)
	c.name = string(m.ProtoReflect().Descriptor().FullName()) + " " + string(bytes)
	c.values = []text{{form: other, same: c.name}}
	return c
}

// hasAny reports whether a message contains an Any, so that it cannot be compared by its bytes.
func hasAny(m protoreflect.Message) bool {
	if m.Descriptor().FullName() == "google.protobuf.Any" {
		return true
	}
	found := false
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap() || fd.Message() == nil:
		case fd.IsList():
			for i := range v.List().Len() {
				found = found || hasAny(v.List().Get(i).Message())
			}
		default:
			found = found || hasAny(v.Message())
		}
		return !found
	})
	return found
}

var all = []text{anything}

func (c condition) about(o condition) bool { return c.of == o.of && c.name == o.name }

// always reports whether every request fits.
func (c condition) always() bool { return c.missing && !c.vague && !c.not && anyCovers(c.values, all) }

// never reports whether no request fits.
func (c condition) never() bool {
	return !c.missing && (!c.not && len(c.values) == 0 || c.not && anyCovers(c.values, all))
}

// covers reports whether it is certain that everything that fits another condition about the same value fits this one.
func (c condition) covers(o condition) bool {
	if c.vague || o.missing && !c.missing {
		return false
	}
	switch {
	case c.not && o.not:
		return anyCovers(o.values, c.values)
	case c.not:
		return anyMeets(c.values, o.values) == No
	case o.not:
		return anyCovers(c.values, all) || anyCovers(o.values, all)
	}
	return anyCovers(c.values, o.values)
}

// meets reports whether something fits both conditions, which are about the same value.
func (c condition) meets(o condition) Overlap {
	if c.missing && o.missing && !c.vague && !o.vague {
		return Yes
	}
	var result Overlap
	switch {
	case c.not && o.not:
		result = both(c.leavesOut(), o.leavesOut())
	case c.not:
		result = without(o.values, c.values)
	case o.not:
		result = without(c.values, o.values)
	default:
		result = anyMeets(c.values, o.values)
	}
	if c.missing && o.missing {
		result = either(result, Perhaps)
	}
	if c.vague || o.vague || c.of > cookie {
		return both(result, Perhaps)
	}
	return result
}

// leavesOut reports whether some values do not fit.
func (c condition) leavesOut() Overlap {
	if slices.ContainsFunc(c.values, func(t text) bool { return t.form == other }) {
		return Perhaps
	}
	return certain(!anyCovers(c.values, all))
}

// meetAll is meets with all of the conditions that are about the same value.
func (c condition) meetAll(others []condition) Overlap {
	result := Yes
	for _, o := range others {
		if c.about(o) {
			result = both(result, c.meets(o))
		}
	}
	return result
}

// independent reports whether the condition does not restrict the path, the host or other conditions.
func (c condition) independent() bool {
	if c.of == header && c.name == ":method" {
		return !c.not && len(c.values) == 1 && c.values[0].form == is && c.values[0].literal != "CONNECT"
	}
	return c.of != header || c.name != "host" && c.name != "cookie" && !strings.HasPrefix(c.name, ":")
}

// without reports whether some string is in one of the sets and in none of the others.
func without(sets, others []text) Overlap {
	result := No
	for _, t := range sets {
		switch {
		case anyCovers(others, []text{t}):
		case t.form == is && !t.fold && anyHas(others, t.literal) == No, t.form != other && anyMeets([]text{t}, others) == No:
			return Yes
		default:
			result = Perhaps
		}
	}
	return result
}
