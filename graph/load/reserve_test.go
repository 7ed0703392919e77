package load

import (
	"context"
	"encoding/base64"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/xdslint/xdslint/internal/reserve"
)

// TestReserved: what a small text makes much of is reserved before it is read, and not read if it does not fit.
func TestReserved(t *testing.T) {
	const n = 1000
	object := func(field, key, text string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {%s: \"true\"}}\n%s: {%s: %q}\n", Label, field, key, text)
	}
	block, _, _ := strings.Cut(object("data", "envoy.yaml", ""), "\ndata")
	block += "\ndata:\n  envoy.yaml: |\n"
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	for name, text := range map[string]string{
		"encoded message": object("binaryData", "envoy.pb", encode(strings.Repeat("\x12\x00", n))),
		"encoded text":    object("binaryData", "envoy.yaml", encode("a: ["+strings.Repeat("1,", n)+"1]")),
		"escaped text":    strings.ReplaceAll(object("data", "envoy.yaml", "a: ["+strings.Repeat("1;", n)+"1]"), ";", `\x2c`),
		"block":           block + strings.Repeat("    - 1\n", n),
		"repeated block":  strings.Replace(block, "|", "&b |", 1) + strings.Repeat("    - 1\n", n/2) + "  b.yaml: *b\n",
		"lists in a line": strings.Repeat("- - - - 1\n", n/4),
		"lists in JSON":   "{\"a\": " + strings.Repeat("[[[[1]]]],", n/4) + "}",
		"aliases":         "a: [&a [" + strings.Repeat("{},", 100) + "{}]" + strings.Repeat(", *a", 10) + "]\nb: " + strings.Repeat("x", n) + "\n",
	} {
		reserved := int64(0)
		ctx := reserve.With(t.Context(), func(size int64) bool { reserved += size; return true })
		if _, err := Texts(ctx, map[string][]byte{"a.yaml": []byte(text)}, Options{}); err != nil {
			t.Error(err)
		}
		if reserved < n*800 {
			t.Errorf("%s: %d bytes are reserved", name, reserved)
		}
		ctx, end := context.WithCancel(t.Context())
		ctx = reserve.With(ctx, func(size int64) bool {
			if size > n*400 {
				end()
			}
			return size <= n*400
		})
		if in, err := Texts(ctx, map[string][]byte{"a.yaml": []byte(text)}, Options{}); err == nil {
			t.Errorf("%s: it is read: %v", name, in.Files)
		}
		end()
	}
}

// TestReservedOnce: the lines of a block in a ConfigMap are reserved once, and not again when the block is read.
func TestReservedOnce(t *testing.T) {
	const n = 1000
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  envoy.yaml: |\n    static_resources:\n      clusters:\n" +
		strings.Repeat("      - name: a\n", n)
	reserved := int64(0)
	ctx := reserve.With(t.Context(), func(size int64) bool { reserved += size; return true })
	in, err := Texts(ctx, map[string][]byte{"a.yaml": []byte(text)}, Options{})
	if err != nil || len(in.Snapshots) != 1 || reserved > (n+10)*800 {
		t.Errorf("%d bytes are reserved: %v", reserved, err)
	}
}

// TestReservedIsEnough: reading takes about as much memory as is reserved at most. The YAML parser keeps all tokens of what
// is between brackets, in a slice that grows by copying.
func TestReservedIsEnough(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	const size = 1 << 15
	many := func(begin, item, end string) string { return begin + strings.Repeat(item, size/len(item)) + end }
	for _, text := range []string{
		many("a: [", "1,", "1]"),
		many("{static_resources: {clusters: [", "{},", "{}]}}"),
		many("{a: {", "a: b,", "c: d}}"),
		many("- {", "a: b,", "c: d}"),
		many(`{"a": {`, `"a":"b",`, `"c":"d"}}`),
		many("{a: {", ":,", ":}}"),
		many("{a: {", "a,", "b}}"),
		many("{a: [", "a: b,", "b]}"),
		many("{a: [", "a,\n", "b]}"),
		many("{a: {", "? a,", "b}}"),
		many("{a: [", "[],", "b]}"),
		many("{a: [", "&a b,", "b]}"),
		many("{a: {\n", "  \"a\": \"b\",\n", "}}"),
		many("a:\n", "- b: c\n", ""),
		many("a:\n", "- \n", ""),
		many("", strings.Repeat("- ", 100)+"[]\n", ""),
		many("a: [", "*a ", "]"),
		many("a: [", "''\t", "]"),
		many("a: [", `""`, "]"),
		many("a: [\n", "!a !a !a !a !a !a\n", "]"),
		many("", "?\r", ""),
		many("a:\r", "-\u2028", ""),
		many("static_resources:\n  clusters:\n", "  - name: c\n    connect_timeout: 1s\n    type: STATIC\n    bogus: 1\n", ""),
	} {
		runtime.GC()
		before, most, reserved := int64(reserve.InUse()), int64(0), int64(0)
		ctx, end := context.WithCancel(t.Context())
		var sampler sync.WaitGroup
		sampler.Go(func() {
			for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
				most = max(most, int64(reserve.InUse())-before)
			}
		})
		_, err := Texts(reserve.With(ctx, func(n int64) bool { reserved += n; return true }), map[string][]byte{"a.yaml": []byte(text)}, Options{})
		end()
		sampler.Wait()
		if err != nil || most > reserved*3/2+1<<20 {
			t.Errorf("%.60s… takes %d kB, and %d are reserved: %v", text, most>>10, reserved>>10, err)
		}
	}
}
