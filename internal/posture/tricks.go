package posture

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/xdslint/xdslint/internal/walk"
)

// try is another way to the resource of a request.
type try struct {
	trick   string
	request walk.Request
	below   bool // the resource is another one, which an exemption covers because it compares text
}

// tricks returns the requests that many upstreams take for the same one.
func tricks(q *walk.Request) (all []try) {
	path, query, _ := strings.Cut(*q.Path, "?")
	if query != "" {
		query = "?" + query
	}
	add := func(trick string, paths ...string) {
		for _, p := range paths {
			if changed := p + query; changed != *q.Path {
				all = append(all, try{trick: trick, request: withPath(q, changed)})
			}
		}
	}
	rest := path[1:]
	add("a query", path+"?x=1")
	add("a trailing slash", strings.TrimSuffix(path, "/")+"/", "/"+strings.Trim(rest, "/"))
	add("letters in another case", strings.ToUpper(path), "/"+capital(rest), strings.ToLower(path))
	add("a slash twice", "/"+path, doubled(path))
	add("an escaped slash", "/%2F"+rest, "/"+strings.Replace(rest, "/", "%2F", 1), "/"+strings.Replace(rest, "/", "%2f", 1))
	add("an escaped letter", escaped(path))
	add("dot segments", "/x/.."+path, "/."+path, path+"/.", "/%2e"+path, "/x/%2e%2e"+path, "/x/..;"+path)
	add("a path parameter", path+";x", parametered(path))
	if q.Authority != nil {
		host := *q.Authority
		add("an absolute URI", scheme(q)+"://"+host+path)
		if !strings.Contains(host, ":") {
			for _, text := range []string{fmt.Sprintf("%s:%d", host, q.Listener.Port), host + ":1"} {
				changed := *q
				changed.Authority = &text
				all = append(all, try{trick: "a port in Host", request: changed})
			}
		}
	}
	return all
}

func scheme(q *walk.Request) string {
	if q.TLS {
		return "https"
	}
	return "http"
}

func withPath(q *walk.Request, path string) walk.Request {
	changed := *q
	changed.Path = &path
	return changed
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// doubled doubles the last slash.
func doubled(path string) string {
	i := strings.LastIndexByte(path, '/')
	return path[:i] + "/" + path[i:]
}

// escaped escapes the first letter.
func escaped(path string) string {
	if len(path) < 2 || path[1] == '%' {
		return path
	}
	return fmt.Sprintf("/%%%02x%s", path[1], path[2:])
}

// parametered adds a parameter to the first segment.
func parametered(path string) string {
	first, rest, more := strings.Cut(path[1:], "/")
	if !more {
		return path
	}
	return "/" + first + ";x/" + rest
}

// fold returns what many upstreams take a path for: without query, parameters, escapes, dot segments, repeated and trailing slashes, and case.
func fold(path string) string {
	path, _, _ = strings.Cut(path, "?")
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	var out []string
	for segment := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		segment, _, _ = strings.Cut(segment, ";")
		switch segment {
		case "", ".":
		case "..":
			out = out[:max(len(out)-1, 0)]
		default:
			out = append(out, strings.ToLower(segment))
		}
	}
	return "/" + strings.Join(out, "/")
}
