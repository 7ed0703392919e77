package envoy

import "testing"

func TestIsURL(t *testing.T) {
	for _, text := range []string{
		"https://login.example/keys", "http://a:80", "ftp://a/b", "HTTP://a/b", "http://u:p@a/", "http://@a/", "http://a?x=1", "http://a/#x", "http://[::1]:80/", "http://a:65535", "h2://a/b", "a+b://c/d", "http://a/b:c", "http://a/?x=[1]", "http://a/^", "http://a?", "http://a:0/",
	} {
		if !IsURL(text) {
			t.Errorf("%q is a URL for Envoy", text)
		}
	}
	for _, text := range []string{
		"", "x", "a.example", "a.example:80", "a.example/b", "//a.example/b", "/b", "http://", "http:a/b", "http:/a/b", "http:///x", "http://a:abc/x", "http://a:/x", "http://a:65536/", "http://a b/c", "http://a/b c", "http://a#x", "http://[::1/", "http://[1]/", "http://a_b/x", "http://a%20b/", "http://ä/", "http://a/ä", "http://*.a/b", "http://{a}/", "http://a\\b/c", "http://a,b/c", "https://$(HOST)/x",
	} {
		if IsURL(text) {
			t.Errorf("%q is not a URL for Envoy", text)
		}
	}
}
