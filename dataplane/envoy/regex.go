package envoy

import (
	"fmt"
	"math"
	"slices"

	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/re2"
)

const (
	limitKey  = "re2.max_program_size.error_level"
	latin1Key = "envoy.reloadable_features.re2_use_latin1_mode"
	// defaultLimit is the largest program size that Envoy allows if the runtime does not set one.
	defaultLimit = 100
)

// InvalidRegex returns the error that RE2 reports for an expression, or "" if it accepts the expression or may accept it.
func InvalidRegex(t dataplane.Target, s graph.View, expression string) (upstream string) {
	for _, c := range charsets(t, s, RuntimeOf(s)) {
		if upstream = re2.Check(expression, c); upstream == "" {
			return ""
		}
	}
	return upstream
}

// charsets returns the charsets that the target may use. Before 1.40, the charset depends on the patch level.
func charsets(t dataplane.Target, s graph.View, runtime Runtime) []re2.Charset {
	switch {
	case t.Before("1.40"), !runtime.Known && !s.Partial():
		return []re2.Charset{re2.Latin1, re2.UTF8}
	case runtime.Guard(latin1Key, true):
		return []re2.Charset{re2.Latin1}
	}
	return []re2.Charset{re2.UTF8}
}

// DotMatchesAnyByte reports whether it is certain that a dot of a regular expression matches each byte of a path. In UTF-8, it matches characters.
func DotMatchesAnyByte(t dataplane.Target, s graph.View) bool {
	return slices.Equal(charsets(t, s, RuntimeOf(s)), []re2.Charset{re2.Latin1})
}

// OversizeRegex is a regular expression whose program is larger than Envoy allows.
type OversizeRegex struct {
	Size, Limit uint64
	Own         bool // the limit is the expression's own, google_re2.max_program_size
	Certain     bool // if false, the bootstrap is not known and may raise the limit
}

// RegexTooLarge reports whether the program of an expression is larger than Envoy allows.
func RegexTooLarge(t dataplane.Target, s graph.View, m *matcherv3.RegexMatcher) (o OversizeRegex, is bool) {
	runtime := RuntimeOf(s)
	o = OversizeRegex{Size: math.MaxUint64, Limit: runtime.Integer(limitKey, defaultLimit), Certain: runtime.Known}
	//nolint:staticcheck // deprecated, and in use
	if own := m.GetGoogleRe2().GetMaxProgramSize(); own != nil {
		o.Limit, o.Own, o.Certain = uint64(own.GetValue()), true, true
	}
	if !o.Own && !runtime.Known && !s.Partial() || o.Limit > math.MaxUint32 {
		return o, false
	}
	for _, c := range charsets(t, s, runtime) {
		size, ok := re2.Size(m.GetRegex(), c)
		if !ok {
			return o, false
		}
		o.Size = min(o.Size, uint64(size))
	}
	return o, o.Size > o.Limit
}

// Upstream returns what Envoy says about the expression.
func (o OversizeRegex) Upstream(expression string) string {
	if o.Own {
		return fmt.Sprintf("regex '%s' RE2 program size of %d > max program size of %d", expression, o.Size, o.Limit)
	}
	return fmt.Sprintf("regex '%s' RE2 program size of %d > max program size of %d set for the error level threshold", expression, o.Size, o.Limit)
}

// OtherRegexEngine reports whether an engine other than RE2 compiles the expression, because the bootstrap names one.
func OtherRegexEngine(s graph.View, m *matcherv3.RegexMatcher) bool {
	if m.GetGoogleRe2() != nil || s.Partial() {
		return false
	}
	b, _ := s.Bootstrap()
	engine := b.GetDefaultRegexEngine()
	return engine != nil && decode.TypeName(engine.GetTypedConfig().GetTypeUrl()) != "envoy.extensions.regex_engines.v3.GoogleRE2"
}
