package routetest_test

import (
	"fmt"
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

// TestDuplicateTests: the last value of a duplicate key counts.
func TestDuplicateTests(t *testing.T) {
	for _, text := range []string{
		"tests:\n- given: {path: /}\n  expect: {status: 200}\ntests: []\n",
		"tests:\n- {test_name: a, input: {authority: a, path: /}, validate: {}}\ntests:\n- {test_name: 5}\n",
	} {
		if _, err := routetest.Read(&source.File{Name: "tests.yaml", Text: []byte(text)}); err == nil || !strings.Contains(err.Error(), `duplicate key "tests"`) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestNoMessage: a number where proto text should have a message is an error.
func TestNoMessage(t *testing.T) {
	for _, validate := range []string{"request_header_matches: 5", "request_header_matches: ok"} {
		text := "tests { test_name: \"a\" input { authority: \"shop.example.com\" path: \"/\" method: \"GET\" } validate { " + validate + " } }\n"
		f, err := routetest.Read(&source.File{Name: "tests.pb_text", Text: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = routetest.Run(snapshot(t, "../../testdata/walk/shop.yaml"), []*routetest.File{f})
		if err == nil || !strings.Contains(err.Error(), "this is not a HeaderMatcher in proto text") {
			t.Errorf("%s: %v", validate, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"input: envoy.yaml\ngiven: {authority: a}\ntests:\n- name: x\n  given: [{path: /, headers: {a: b}}]\n  expect: {status: 200, limits: {requests: 5}}\ntests: []\n",
		"tests:\n- {test_name: a, input: {authority: a, path: /, method: GET}, validate: {cluster_name: c}}\n",
		"tests { test_name: \"a\" input { authority: \"shop.example.com\" path: \"/\" method: \"GET\" }\n  validate { request_header_matches { name: \"a\" present_match: true } } }\n",
		"tests {\n  test_name: \"a\"\n  input { authority: \"a\" path: \"/\" method: \"GET\" }\n  validate { cluster_name { value: \"c\" } }\n}\n",
	} {
		f.Add(text, ".yaml")
		f.Add(text, ".pb_text")
	}
	shop := snapshot(f, "../../testdata/walk/shop.yaml")
	f.Fuzz(func(t *testing.T, text, suffix string) {
		read := func() string {
			tests, err := routetest.Read(&source.File{Name: "tests" + suffix, Text: []byte(text)})
			if err == nil {
				_, err = routetest.Run(shop, []*routetest.File{tests})
			}
			return fmt.Sprint(err)
		}
		if first, again := read(), read(); first != again {
			t.Errorf("%s, then %s", first, again)
		}
	})
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
