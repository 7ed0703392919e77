package server

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// TestRemembered: for a while, equal texts in the same format are not judged again, unless the answer is long or a rule failed.
func TestRemembered(t *testing.T) {
	rule := &lint.Rule{Group: "test", Name: "rule", Severity: lint.Info}
	synctest.Test(t, func(t *testing.T) {
		judged := 0
		r := run(t, Options{Linter: fake{lint: func(ctx context.Context, texts map[string][]byte) (*xdslint.Report, error) {
			judged++
			report, err := nothing(ctx, texts)
			for _, text := range texts {
				switch string(text) {
				case "fails":
					report.Result.Failures = []*lint.Failure{{Rule: rule, Panic: "oops"}}
				case "long":
					file := &graph.SourceFile{Name: "x.yaml"}
					report.Diagnostics = []lint.Diagnostic{{
						Rule: rule, Severity: lint.Info, Message: strings.Repeat("x", maxRememberedOf), Resource: &graph.Resource{Kind: graph.File, File: file},
					}}
				}
			}
			return report, err
		}}})
		ask := func(path, text string, want int) (answer string) {
			t.Helper()
			response, err := r.client.Do(r.request(t, "POST", path, "", strings.NewReader(text)))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			all, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != http.StatusOK || judged != want {
				t.Errorf("%s %q: %v %s, judged %d, want %d", path, text, err, response.Status, judged, want)
			}
			return string(all)
		}
		first := ask("/v1/lint", "a", 1)
		if again := ask("/v1/lint", "a", 1); again != first {
			t.Errorf("%s, and then %s", first, again)
		}
		ask("/v1/lint", "b", 2)
		ask("/v1/lint?format=sarif", "a", 3)
		ask("/v1/lint?filename=other.yaml", "a", 4)
		ask("/v1/lint", "fails", 5)
		ask("/v1/lint", "fails", 6)
		ask("/v1/lint", "long", 7)
		ask("/v1/lint", "long", 8)
		time.Sleep(rememberedFor)
		ask("/v1/lint", "a", 9)
	})
}
