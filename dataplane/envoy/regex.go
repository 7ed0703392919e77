package envoy

import (
	"fmt"
	"math"

	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/re2"
)

const (
	limitKey  = "re2.max_program_size.error_level"
	latin1Key = "envoy.reloadable_features.re2_use_latin1_mode"
	// defaultLimit is the program size that Envoy allows where the runtime says nothing.
	defaultLimit = 100
)

// InvalidRegex is what RE2 says is wrong with an expression, "" where it takes it or that is not certain.
func InvalidRegex(t dataplane.Target, s *graph.Snapshot, expression string) (upstream string) {
	for _, c := range charsets(t, s, RuntimeOf(s)) {
		if upstream = re2.Check(expression, c); upstream == "" {
			return ""
		}
	}
	return upstream
}

// charsets are those that the target may use: which one a release before 1.40 does is a matter of its patch level.
func charsets(t dataplane.Target, s *graph.Snapshot, runtime Runtime) []re2.Charset {
	switch {
	case t.Before("1.40"), !runtime.Known && !s.Partial:
		return []re2.Charset{re2.Latin1, re2.UTF8}
	case runtime.Guard(latin1Key, true):
		return []re2.Charset{re2.Latin1}
	}
	return []re2.Charset{re2.UTF8}
}

// OversizeRegex is an expression whose program is larger than Envoy allows.
type OversizeRegex struct {
	Size, Limit uint64
	Own         bool // the limit is the expression's own, google_re2.max_program_size
	Certain     bool // otherwise the bootstrap is not known, which may raise the limit
}

// RegexTooLarge tells whether the program of an expression is larger than Envoy allows.
func RegexTooLarge(t dataplane.Target, s *graph.Snapshot, m *matcherv3.RegexMatcher) (o OversizeRegex, is bool) {
	runtime := RuntimeOf(s)
	o = OversizeRegex{Size: math.MaxUint64, Limit: runtime.Integer(limitKey, defaultLimit), Certain: runtime.Known}
	//nolint:staticcheck // deprecated, and in use
	if own := m.GetGoogleRe2().GetMaxProgramSize(); own != nil {
		o.Limit, o.Own, o.Certain = uint64(own.GetValue()), true, true
	}
	if !o.Own && !runtime.Known && !s.Partial || o.Limit > math.MaxUint32 {
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

// Upstream is what Envoy says of it.
func (o OversizeRegex) Upstream(expression string) string {
	if o.Own {
		return fmt.Sprintf("regex '%s' RE2 program size of %d > max program size of %d", expression, o.Size, o.Limit)
	}
	return fmt.Sprintf("regex '%s' RE2 program size of %d > max program size of %d set for the error level threshold", expression, o.Size, o.Limit)
}

// OtherRegexEngine tells whether something else than RE2 compiles the expression: an engine that the bootstrap names.
func OtherRegexEngine(s *graph.Snapshot, m *matcherv3.RegexMatcher) bool {
	if m.GetGoogleRe2() != nil || s.Partial {
		return false
	}
	b, _ := s.Bootstrap()
	engine := b.GetDefaultRegexEngine()
	return engine != nil && decode.TypeName(engine.GetTypedConfig().GetTypeUrl()) != "envoy.extensions.regex_engines.v3.GoogleRE2"
}
