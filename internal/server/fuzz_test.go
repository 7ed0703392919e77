package server

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// FuzzIntake: whatever comes, the answer is a result or says what is wrong with the request, and nothing stays in memory.
func FuzzIntake(f *testing.F) {
	contentType, body := form(f, sent{"old", "a.yaml", "{}"}, sent{"new", "", "{}"})
	f.Add("/v1/plan", "transport=sotw", contentType, body.String())
	f.Add("/v1/lint", "", contentType, body.String())
	f.Add("/v1/lint", "filename=a.yaml&format=sarif", "application/yaml", "{}")
	f.Add("/v1/lint", "", `multipart/form-data; boundary="b"`, "--b\r\nContent-Disposition: form-data; filename*=utf-8''%2e%2e\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=3D\r\n--b--")
	f.Add("/k8s/validate", "timeout=1s", jsonType, `{"request": {"uid": "u", "object": {}}}`)
	s := made(f, Options{MaxBody: 1 << 16, Linter: linter(), Log: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, path, query, contentType, body string) {
		if _, ok := s.routes[path]; !ok || strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r > '~' || r == '#' }) {
			return
		}
		response := ask(s, http.MethodPost, path+"?"+query, contentType, strings.NewReader(body))
		allowed := []int{200, 400, 405, 413, 415, 503} // 503: the query may shorten the time
		if !slices.Contains(allowed, response.StatusCode) {
			t.Errorf("%s: %s", response.Status, text(t, response))
		}
		if held := gauge(t, s.metrics.held); held != 0 {
			t.Errorf("%v bytes are held", held)
		}
	})
}
