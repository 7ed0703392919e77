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

// fitsHeader reports whether headers fit a matcher.
func (w *Walker) fitsHeader(m *routev3.HeaderMatcher, h *headers) match.Overlap {
	made, ok := w.matchers.headers[m]
	if !ok {
		made = match.NewHeader(m)
		w.matchers.headers[m] = made
	}
	return made.Fit(w.matchable(h))
}

// fitsText reports whether a text fits a matcher.
func (w *Walker) fitsText(m *matcherv3.StringMatcher, text string) match.Overlap {
	made, ok := w.matchers.texts[m]
	if !ok {
		made = match.NewText(m)
		w.matchers.texts[m] = made
	}
	return made.Fit(text)
}

// fitsAll reports whether headers fit all of some matchers.
func (w *Walker) fitsAll(list []*routev3.HeaderMatcher, h *headers) match.Overlap {
	fits := match.Yes
	for _, m := range list {
		fits = min(fits, w.fitsHeader(m, h))
	}
	return fits
}
