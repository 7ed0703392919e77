package strict_test

import (
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/strict"
)

type pair [2]string

func (p *pair) UnmarshalJSON(text []byte) (err error) {
	*p, err = strict.Pair(text)
	return err
}

// TestJSON: what is wrong with a value is said in words of the format, and not of Go.
func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"path": "/", "headers": [["a", "b"]], "nth": 1}`: "",
		`{"path": 5}`:                       "path: got number, want a text",
		`{"nth": 1.5}`:                      "nth: got number 1.5, want a whole number",
		`{"nth": 99999999999999999999}`:     "nth: got number 99999999999999999999, want a whole number",
		`{"headers": {}}`:                   "headers: got map, want a list",
		`{"headers": [["a", "b", "c"]]}`:    `got ["a", "b", "c"], want [name, value]`,
		`{"header": []}`:                    `unknown key "header" (did you mean "headers"?)`,
		`{"colour": 1}`:                     `unknown key "colour"; known keys: path, nth, headers`,
		`{"path": "/"`:                      "the JSON is not complete",
		`{"path": "/"} {}`:                  "there is more than one value",
		"{\"path\": \"\xff\"}":              "the text is not valid UTF-8",
		`[]`:                                "got array, want a map",
		`{"path": "/", "headers": [["a"]]}`: `got ["a"], want [name, value]`,
	} {
		var into struct {
			Path    string `json:"path"`
			Nth     int    `json:"nth,omitempty"`
			Headers []pair `json:"headers"`
			Hidden  string `json:"-"`
		}
		got := ""
		if err := strict.JSON([]byte(text), &into); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}

// TestManyFaults: a text with very many faults does not fill a screen with each.
func TestManyFaults(t *testing.T) {
	faults := make([]*strict.Fault, 50_000)
	for i := range faults {
		faults[i] = &strict.Fault{Message: "wrong"}
	}
	if got := strings.Count(strict.Join(faults).Error(), "\n"); got != 50 {
		t.Errorf("%d lines", got+1)
	}
	if err := strict.Join(faults[:50]); strings.Contains(err.Error(), "more") {
		t.Error(err)
	}
}

// TestFaultName: a fault has one line, whatever its file is called.
func TestFaultName(t *testing.T) {
	fault := strict.Fault{File: &source.File{Name: "a\nb", Text: []byte("x")}, Message: "wrong"}
	if got := fault.Error(); got != `"a\nb":1:1: wrong` {
		t.Error(got)
	}
}
