package playground_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/playground"
)

// TestTextsBehind: a text that follows the JSON is read as if it were in it.
func TestTextsBehind(t *testing.T) {
	texts := files{"b.yaml": "# ü\n" + cluster, "a.yaml": "{\n", "c.yaml": ""}
	within, err := json.Marshal(map[string]any{"files": texts, "before": files{"a.yaml": cluster}})
	if err != nil {
		t.Fatal(err)
	}
	behind := `{"files": {"b.yaml": [0, ` + length(texts["b.yaml"]) + `], "a.yaml": "{\n", "c.yaml": [3, 3]}, "before": {"a.yaml": [5, ` + length("# ü\n"+cluster) + "]}}\n" + texts["b.yaml"]
	for _, operation := range []string{"lint", "plan", "redact"} {
		want, got := (&playground.Engine{}).Call(operation, within), (&playground.Engine{}).Call(operation, []byte(behind))
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %s, want %s", operation, got, want)
		}
	}
	for _, place := range []string{"[0, 5]", "[-1, 2]", "[2, 1]", "[1, 2, 3, 4]", "[1.5, 2]", "[4]", "{}"} {
		if answer := (&playground.Engine{}).Call("lint", []byte(`{"files": {"a.yaml": `+place+"}}\nabcd")); place != "[1, 2, 3, 4]" && place != "[4]" && !strings.Contains(string(answer), "the request is malformed") {
			t.Errorf("%s: %s", place, answer)
		}
	}
}

func length(text string) string {
	out, _ := json.Marshal(len(text))
	return string(out)
}
