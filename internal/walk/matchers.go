package walk

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// matchers keeps what is prepared of matchers outside of routes.
type matchers struct {
	headers map[*routev3.HeaderMatcher]match.Header
	texts   map[*matcherv3.StringMatcher]match.Text
}

func newMatchers() matchers {
	return matchers{map[*routev3.HeaderMatcher]match.Header{}, map[*matcherv3.StringMatcher]match.Text{}}
}

// header reports whether headers fit a matcher.
func (ms matchers) header(m *routev3.HeaderMatcher, h *headers) match.Overlap {
	made, ok := ms.headers[m]
	if !ok {
		made = match.NewHeader(m)
		ms.headers[m] = made
	}
	return made.Fit(h.get)
}

// text reports whether a text fits a matcher.
func (ms matchers) text(m *matcherv3.StringMatcher, text string) match.Overlap {
	made, ok := ms.texts[m]
	if !ok {
		made = match.NewText(m)
		ms.texts[m] = made
	}
	return made.Fit(text)
}

// all reports whether headers fit all of some matchers.
func (ms matchers) all(list []*routev3.HeaderMatcher, h *headers) match.Overlap {
	fits := match.Yes
	for _, m := range list {
		fits = min(fits, ms.header(m, h))
	}
	return fits
}
