package playground_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/xdslint/xdslint/internal/requestbar"
)

// BenchmarkFollow follows requests through 5,000 lines as the page asks for it: another request, or one through another text; and looks for holes.
func BenchmarkFollow(b *testing.B) {
	text := config(5000)
	ask := func(b *testing.B, operation string, of func(i int) (text, request string)) {
		for i := 0; b.Loop(); i++ {
			text, request := of(i)
			raw, err := json.Marshal(map[string]any{"files": files{"envoy.yaml": text}, "asked": requestbar.Asked{Text: request}})
			if err != nil {
				b.Fatal(err)
			}
			if out := larger.Call(operation, raw); len(out) < 20 {
				b.Fatalf("%s", out)
			}
		}
	}
	request := func(i int) string { return fmt.Sprintf("GET http://shop-%d.example.com/api/%d", i%200, i) }
	b.Run("request", func(b *testing.B) { ask(b, "follow", func(i int) (string, string) { return text, request(i) }) })
	b.Run("text", func(b *testing.B) {
		ask(b, "follow", func(i int) (string, string) { return text + fmt.Sprintf("# %d\n", i), request(i) })
	})
	b.Run("holes", func(b *testing.B) { ask(b, "holes", func(int) (string, string) { return text, "" }) })
}
