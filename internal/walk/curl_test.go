package walk_test

import (
	"testing"

	"github.com/xdslint/xdslint/internal/walk"
)

func TestCurl(t *testing.T) {
	tests := map[string]struct {
		change func(*walk.Request)
		want   string
	}{
		"plain": {func(*walk.Request) {}, "curl -i --path-as-is -H 'host: shop.example.com' http://127.0.0.1:80/a"},
		"quoted": {
			func(r *walk.Request) { r.Headers = []walk.Header{{"x-a", "it's"}, {"x-b", ""}} },
			`curl -i --path-as-is -H 'host: shop.example.com' -H 'x-a: it'\''s' -H 'x-b;' http://127.0.0.1:80/a`,
		},
		"a raw path": {
			func(r *walk.Request) { path := "/a#\x01"; r.Path = &path },
			`curl -i --path-as-is -H 'host: shop.example.com' --request-target $'/a#\x01' http://127.0.0.1:80`,
		},
		"TLS": {
			func(r *walk.Request) { r.TLS, r.SNI, r.ClientCert.Presented = true, "a.test", true },
			"curl -i --path-as-is -k --no-alpn --cert client.crt --key client.key --connect-to ::127.0.0.1:80 -H 'host: shop.example.com' https://a.test/a",
		},
		"TLS with a protocol": {
			func(r *walk.Request) { r.TLS, r.ALPN = true, []string{"http/1.1"} },
			"curl -i --path-as-is -k --http1.1 -H 'host: shop.example.com' https://127.0.0.1:80/a",
		},
		"HTTP/2 without a host": {
			func(r *walk.Request) { r.HTTP, r.Authority, r.Method = "2", nil, "HEAD" },
			"curl -i --path-as-is --http2-prior-knowledge --head -H host: http://127.0.0.1:80/a",
		},
		"CONNECT": {
			func(r *walk.Request) { r.Method, r.Path = "CONNECT", nil },
			"curl -i -X CONNECT -H 'host: shop.example.com' --request-target shop.example.com http://127.0.0.1:80",
		},
		"a body": {func(r *walk.Request) { r.BodyBytes = 3 }, "curl -i --path-as-is -X GET -H 'host: shop.example.com' --data-binary xxx http://127.0.0.1:80/a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := get("/a")
			test.change(r)
			if got := r.Curl("0.0.0.0:80"); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestCurlsOwnHeaders: curl sends some headers by itself, unless the request has them or the command removes them.
func TestCurlsOwnHeaders(t *testing.T) {
	host, path := "shop.example.com", "/a"
	r := &walk.Request{Method: "GET", Authority: &host, Path: &path, Headers: []walk.Header{{"User-Agent", "shop"}}}
	want := "curl -i --path-as-is -H 'host: shop.example.com' -H 'User-Agent: shop' -H accept: http://127.0.0.1:80/a"
	if got := r.Curl("127.0.0.1:80", "user-agent", "accept", "x-user"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
