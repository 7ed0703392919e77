package routetest_test

import (
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/routetest"
	"github.com/xdslint/xdslint/internal/source"
)

// TestWrongFiles: a test that cannot be meant is rejected with its place.
func TestWrongFiles(t *testing.T) {
	for given, want := range map[string]string{
		"{path: /, path: /x}":             `tests.yaml:2:20: duplicate key "path"`,
		"[]":                              "tests.yaml:2:10: given: the list is empty",
		"{path: /, headers: {a: {b: c}}}": "tests.yaml:2:33: headers: got a map, want a text",
		"{path: /, headers: 5}":           "tests.yaml:2:29: headers: got number, want a list",
		"{path: /, nth: one}":             "tests.yaml:2:25: nth: got string, want a whole number",
		"{path: /, header: {a: b}}":       `tests.yaml:2:20: unknown key "header" (did you mean "headers"?)`,
	} {
		_, err := routetest.Read(&source.File{Name: "tests.yaml", Text: []byte("tests:\n- given: " + given + "\n  expect: {status: 200}\n")})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, not %q", given, err, want)
		}
	}
}

// TestTitle: the name of a test without a name does not show credentials of the request.
func TestTitle(t *testing.T) {
	s := snapshot(t, "../../testdata/walk/edge.yaml")
	report, err := routetest.Run(s, file(t, "tests:\n- given: {path: /, sni: shop.example.com, headers: {authorization: Bearer opensesame, x-user: ann}}\n  expect: {status: 200}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := report.JSON(&text); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "opensesame") || !strings.Contains(text.String(), "x-user: ann") {
		t.Errorf("%s", text.String())
	}
}
