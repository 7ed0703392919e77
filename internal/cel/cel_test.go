package cel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/cel"
	"github.com/xdslint/xdslint/internal/envoytest"
)

var valid = []string{
	"a", "request.path", "a.b.c", ".a", "a[0]", `a["b"]`, "[1, 2,]", "[]", "[,]", "{}", `{"a": 1,}`, "a ? b : c", "!a", "!!a", "-a", "--a", "a && b || c",
	"a == b == c", "a in [1]", "'x'", `r"\d"`, `"\n"`, `"\u00e9"`, "b'a'", "'''a'b'''", `'a\'b'`, "1", "1.5", ".5", "1e3", "0x1F", "1u", "-1", "true",
	"null", "a.as", "has(a.b)", "a // comment", "a-b", "(a)", `size(a) > 1 && a.startsWith("x")`, "a.size() > 1", "1 + 2 * 3 % 4", `int("1")`,
	`timestamp("2026-11-23T00:00:00Z").getFullYear("UTC") == 2026`, "type(a)", "dyn(a)", `re.extract("a", "b", "c")`, `a.matches("[0-9]+")`,
	`contains(a, "b")`, "a\n+ b", "size", "google.protobuf.Duration{seconds: 1}",
}

var invalid = []string{
	"", " ", "a +", "+ a", "a b", "a[", "a ? b", "a ?: b", "a & b", "a and b", "in a", "not a", "a <> b", "a = b", `"x`, `"\d"`, `"\x4"`, `rb"a"`, "1.",
	"1e", "0x", "as", "if", "a.in", "a.true", "a.b(", "has(a)", `has(a["b"])`, "has()", "has(a.b, c)", "a.all(x, x > 1)", "a.exists(x, true)",
	"a.exists_one(x, true)", "a.map(x, x)", "a.filter(x, true)", "all(x, y)", "// c", "a # b", "a@b", "$a", "a?.b", "[?a]", "a..b", "a.", "1a", "é", "((a)",
	"(a))", "()", "a;", "a, b", "string(1)", "!", "a &&", "? a : b", `"a" "b"`, "a(b)(c)", "a[1](2)", "shorten(a)", "a.shorten()", "size(a, b)",
	"a.lowerAscii()", "startsWith(a)", `a.re.extract("a", "b", "c")`, "{,,}", "a.b[1].c()",
}

func TestInvalid(t *testing.T) {
	for _, expression := range valid {
		if upstream := cel.Invalid(expression); upstream != "" {
			t.Errorf("%q is valid, but: %s", expression, upstream)
		}
	}
	for _, expression := range invalid {
		if cel.Invalid(expression) == "" {
			t.Errorf("%q is not valid", expression)
		}
	}
}

// TestEnvoy asks Envoy about the same expressions: all valid ones together, each invalid one alone.
func TestEnvoy(t *testing.T) {
	envoytest.Need(t)
	t.Parallel()
	if verdict := ask(t, valid...); verdict.Outcome != envoytest.Accept {
		t.Errorf("Envoy rejects a valid expression: %s", verdict.Message)
	}
	for _, expression := range invalid {
		if verdict := ask(t, expression); verdict.Outcome == envoytest.Accept {
			t.Errorf("Envoy accepts %q", expression)
		}
	}
}

func ask(t *testing.T, expressions ...string) envoytest.Verdict {
	t.Helper()
	var b strings.Builder
	b.WriteString(envoytest.AccessLogs)
	for _, e := range expressions {
		fmt.Fprintf(&b, filter, e)
	}
	verdict, err := envoytest.Newest.ValidateText(t.Context(), b.String(), ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

const filter = `          - name: log
            typed_config: {"@type": type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog}
            filter:
              extension_filter:
                name: cel
                typed_config: {"@type": type.googleapis.com/envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter, expression: %q}
`
