package walk

import "testing"

// The results are those of Envoy 1.40 (`make walk` compares more of them).
func TestCanonicalPath(t *testing.T) {
	for path, want := range map[string]string{
		"/a/../b":         "/b",
		"/a/./b":          "/a/b",
		"/a/%2e%2E/b":     "/b",
		"/..":             "/",
		"/a/..":           "/",
		"/a/.":            "/a/",
		"/a/...":          "/a/...",
		"/a.b/.c":         "/a.b/.c",
		"/%41%7e%2f":      "/A~%2f",
		"/a\\b":           "/a/b",
		"/a b":            "/a%20b",
		"/%zz%":           "/%zz%",
		"/a//b":           "/a//b",
		"/a/../b?x=/../y": "/b?x=/../y",
		"/\"<>`{}":        "/%22%3C%3E%60%7B%7D",
	} {
		if got, ok := canonicalPath(path); got != want || !ok {
			t.Errorf("%s: %s, %t; want %s", path, got, ok, want)
		}
	}
	if _, ok := canonicalPath("/%00"); ok {
		t.Error("/%00 is accepted")
	}
}

func TestPlainDots(t *testing.T) {
	for path, want := range map[string]string{
		"/..;/a": "/../a", "/a/.;x=1;y/b?/..;": "/a/./b?/..;", "/a/..;\\b": "/a/..", "/a/...;x": "/a/...;x", "/a;x/%2e.;": "/a;x/%2e.;",
	} {
		if got := plainDots(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestMergeSlashes(t *testing.T) {
	for path, want := range map[string]string{"/a//b///c": "/a/b/c", "//a": "/a", "/a//": "/a/", "//": "//", "/a?//": "/a?//", "/a//?//": "/a/?//"} {
		if got := mergeSlashes(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
