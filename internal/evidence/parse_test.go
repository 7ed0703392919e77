package evidence_test

import (
	"testing"

	"github.com/xdslint/xdslint/internal/evidence"
)

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "seen/bad.yaml: nothing is expected: add a line with get, sees, stat or admin",
		"send GET /":                         "seen/bad.yaml: nothing is expected: add a line with get, sees, stat or admin",
		"receive 200":                        "seen/bad.yaml:1: a line begins with upstream, replace, send, with, get, stat or admin, or is NAME sees …",
		"# a comment\n\nget 200":             "seen/bad.yaml:3: nothing has been sent before",
		"with x-user: root":                  "seen/bad.yaml:1: with continues a line that begins with send",
		"send GET /\nget 200\nwith a: b":     "seen/bad.yaml:3: with continues a line that begins with send",
		"replace ca":                         "seen/bad.yaml:1: replace NAME by NAME",
		"send GET":                           "seen/bad.yaml:1: send METHOD PATH",
		"send GET / twice":                   `seen/bad.yaml:1: "twice" is not understood here`,
		"send GET /\nwith SNI a.com":         "seen/bad.yaml:2: with HEADER: VALUE, body of N bytes or first line TEXT; and after over TLS: SNI, ALPN, certificate or trust in",
		"send GET /\nwith body of 1 MB":      "seen/bad.yaml:2: body of N bytes",
		"send GET /\nget OK":                 "seen/bad.yaml:2: get STATUS, closed, HEADER: VALUE, no HEADER or certificate NAME",
		"send GET /\nget 200 for shop":       `seen/bad.yaml:2: "for shop" is not understood here`,
		"send GET /\nget 200 0 times":        `seen/bad.yaml:2: "0 times" is not understood here`,
		"upstream shop sleeps":               "seen/bad.yaml:1: an upstream answers STATUS, hangs, closes, is lost or speaks TLS",
		"upstream shop answers slowly":       "seen/bad.yaml:1: answers STATUS, such as 503",
		"upstream shop speaks TLS 1.1":       "seen/bad.yaml:1: TLS 1.1: say 1.2 or 1.3",
		"shop sees":                          "seen/bad.yaml:1: a line begins with upstream, replace, send, with, get, stat or admin, or is NAME sees …",
		"shop sees that":                     "seen/bad.yaml:1: shop sees METHOD PATH, HEADER: VALUE, no HEADER, SNI NAME, no SNI, body of N bytes, nothing or N requests",
		"shop sees GET /\nshop sees nothing": "seen/bad.yaml:2: count requests on a line of its own, after an empty line",
		"stat cluster.shop.upstream_rq is":   "seen/bad.yaml:1: stat NAME is [at least] N",
		"admin /clusters says shop":          "seen/bad.yaml:1: admin PATH shows TEXT, or lacks TEXT",
	} {
		_, err := evidence.Parse("seen/bad.yaml", text)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
