package match

import (
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/structpb"
)

// fitMetadata follows MetadataMatcher::match (source/common/common/matchers.h).
func (c condition) fitMetadata(q *Request) Overlap {
	m, ok := c.source.(*matcherv3.MetadataMatcher)
	if !ok {
		return Perhaps
	}
	return FitMetadata(m, q.Metadata)
}

// FitMetadata reports whether metadata by namespace fits a matcher. That is not known if the metadata is nil, or that of the namespace.
func FitMetadata(m *matcherv3.MetadataMatcher, metadata map[string]*structpb.Struct) Overlap {
	if own, has := metadata[m.GetFilter()]; metadata == nil || has && own == nil {
		return Perhaps
	}
	value := structpb.NewStructValue(metadata[m.GetFilter()])
	for _, step := range m.GetPath() {
		value = value.GetStructValue().GetFields()[step.GetKey()]
	}
	fits := fitValue(m.GetValue(), value)
	if m.GetInvert() {
		return Yes - fits
	}
	return fits
}

// fitValue reports whether a value, which can be missing, fits a matcher (ValueMatcher::match of each kind).
func fitValue(m *matcherv3.ValueMatcher, value *structpb.Value) Overlap {
	switch by := m.GetMatchPattern().(type) {
	case *matcherv3.ValueMatcher_NullMatch_:
		_, null := value.GetKind().(*structpb.Value_NullValue)
		return certain(null)
	case *matcherv3.ValueMatcher_BoolMatch:
		b, ok := value.GetKind().(*structpb.Value_BoolValue)
		return certain(ok && b.BoolValue == by.BoolMatch)
	case *matcherv3.ValueMatcher_PresentMatch:
		return certain(by.PresentMatch && value.GetKind() != nil)
	case *matcherv3.ValueMatcher_StringMatch:
		s, ok := value.GetKind().(*structpb.Value_StringValue)
		if !ok {
			return No
		}
		return textOf(by.StringMatch).holds(s.StringValue)
	case *matcherv3.ValueMatcher_DoubleMatch:
		n, ok := value.GetKind().(*structpb.Value_NumberValue)
		return certain(ok && inRange(by.DoubleMatch, n.NumberValue))
	case *matcherv3.ValueMatcher_ListMatch:
		fits := No
		for _, item := range value.GetListValue().GetValues() {
			fits = either(fits, fitValue(by.ListMatch.GetOneOf(), item))
		}
		return fits
	case *matcherv3.ValueMatcher_OrMatch:
		fits := No
		for _, each := range by.OrMatch.GetValueMatchers() {
			fits = either(fits, fitValue(each, value))
		}
		return fits
	}
	return Perhaps
}

func inRange(m *matcherv3.DoubleMatcher, n float64) bool {
	if r := m.GetRange(); r != nil {
		return r.GetStart() <= n && n < r.GetEnd()
	}
	return m.GetExact() == n
}
