package requestbar

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/internal/walk"
)

// TestRead: a request is read as people write it, and the path stays as it is written.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"https://pay.example.com/health":                                              `{"method":"GET","authority":"pay.example.com","path":"/health","tls":true,"sni":"pay.example.com"}`,
		"GET https://pay.example.com:8443/a/../%2Fb?x=1#y\nx-beta: 1\nHost: other:80": `{"method":"GET","authority":"other:80","path":"/a/../%2Fb?x=1","headers":[["x-beta","1"]],"tls":true,"sni":"pay.example.com"}`,
		"post pay.example.com/x HTTP/2\n\nbody":                                       `{"method":"POST","authority":"pay.example.com","path":"/x","http":"2","body_bytes":4}`,
		"http://[::1]:8080":                                                           `{"method":"GET","authority":"[::1]:8080","path":"/"}`,
		"https://10.0.0.0/":                                                           `{"method":"GET","authority":"10.0.0.0","path":"/","tls":true}`,
		"https://a.test:443?q":                                                        `{"method":"GET","authority":"a.test","path":"/?q","tls":true,"sni":"a.test"}`,
		"/only/a path":                                                                `{"method":"GET","authority":null,"path":"/only/a path"}`,
		"PURGE /x":                                                                    `{"method":"PURGE","authority":null,"path":"/x"}`,
		"CONNECT db.test:443":                                                         `{"method":"CONNECT","authority":"db.test:443","path":null}`,
		"http://ann:secret@a.test/":                                                   `{"method":"GET","authority":"a.test","path":"/","headers":[["authorization","Basic YW5uOnNlY3JldA=="]]}`,

		`curl -sSi -XPUT -H'x-a: b' --header "x-c: \"d\"" -k --http1.1 'https://a.test/p'`:                  `{"method":"PUT","authority":"a.test","path":"/p","headers":[["x-a","b"],["x-c","\"d\""]],"http":"1.1","tls":true,"sni":"a.test","alpn":["http/1.1"]}`,
		"curl a.test/x \\\n  -d a=1 -d b=2":                                                                 `{"method":"POST","authority":"a.test","path":"/x","headers":[["content-type","application/x-www-form-urlencoded"]],"body_bytes":7}`,
		`curl --json '{}' -u ann:secret -A me http://a.test`:                                                `{"method":"POST","authority":"a.test","path":"/","headers":[["accept","application/json"],["authorization","Basic YW5uOnNlY3JldA=="],["user-agent","me"],["content-type","application/json"]],"body_bytes":2}`,
		`curl -I -H 'Host: b.test' -H 'x-empty;' --request-target 'http://c.test/y' http://127.0.0.1:8080/`: `{"method":"HEAD","authority":"b.test","path":"http://c.test/y","headers":[["x-empty",""]]}`,
		`curl -H host: http://127.0.0.1/`:                                                                   `{"method":"GET","authority":null,"path":"/"}`,
		`curl $'http://a.test/\x01\'' --haproxy-protocol --cert c.crt --key c.key`:                          `{"method":"GET","authority":"a.test","path":"/\u0001'","client_cert":true,"proxy_protocol":{"source":"","destination":""}}`,
	} {
		r, err := read(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := json.Marshal(r.Request)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(object(t, want), object(t, string(got))); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
}

// object is JSON without what is null because it is not set.
func object(t *testing.T, text string) (all map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return all
}

// TestReadNot: what cannot be read is said in words, and nothing is not a mistake.
func TestReadNot(t *testing.T) {
	for text, want := range map[string]string{
		"get": "write what to get", "ftp://a.test/": "not a URL of http", "a.test/\nno header": "is not a header", "http://a.test:99999/": "is not a port",
		"curl": "does not have a URL", "curl --proxy x a.test": "--proxy of curl is not known", "curl -X": "needs a value", "curl 'a": "is not closed",
		`curl "a`: "is not closed", "curl $'\\q'": "escape", "curl a.test b.test": "second URL", "curl -H x a.test": "is not a header",
		"xds:///a:1 /b/C": "choose grpc-go",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, nothing := range []string{"", " \r\n\t"} {
		if r, err := read(nothing); r != nil || err != nil {
			t.Errorf("%q: %v, %v", nothing, r, err)
		}
	}
}

// TestCurlOfRequests: the command that xdslint prints for a request is read as that request.
func TestCurlOfRequests(t *testing.T) {
	host, path, odd := "shop.test", "/a/../b", "/\x7f'\\ ü"
	for _, r := range []walk.Request{
		{Method: "GET", Authority: &host, Path: &path},
		{Method: "DELETE", Authority: &host, Path: &odd, Headers: []walk.Header{{"x-a", "it's"}, {"x-b", ""}}},
		{Method: "HEAD", Path: &path, HTTP: "1.0"},
		{Method: "GET", Authority: &host, Path: &path, TLS: true, SNI: "shop.test"},
	} {
		command := r.Curl("0.0.0.0:8443")
		got, err := read(command)
		if err != nil {
			t.Errorf("%s: %v", command, err)
			continue
		}
		r.Headers, got.Headers = slices.Clip(r.Headers), slices.Clip(got.Headers)
		if diff := cmp.Diff(r, got.Request); diff != "" || got.port != 8443 {
			t.Errorf("%s, port %d:\n%s", command, got.port, diff)
		}
	}
}

// FuzzRead: no text makes the reader fail otherwise than with an error.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"GET https://a.test/\nx: y", `curl -H "a: b" $'\u00e9' 'http://a'`, "curl -", "xds:", "CONNECT a:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := read(text); err == nil && r != nil && r.Path == nil && r.Method != "CONNECT" {
			t.Errorf("%q does not have a path", text)
		}
		_, _ = readRPC(text)
	})
}
