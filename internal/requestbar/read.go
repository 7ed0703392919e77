package requestbar

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/xdslint/xdslint/internal/walk"
	"github.com/xdslint/xdslint/internal/words"
)

// typed is a request that was typed.
type typed struct {
	walk.Request
	port uint32 // of the URL
}

// methods are those that may be typed in lower case.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}

// read reads a request: a method and a URL, with headers on the lines below, or a curl command. It returns nil if nothing is typed.
func read(text string) (*typed, error) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	switch {
	case text == "":
		return nil, nil
	case text == "curl" || strings.HasPrefix(text, "curl "):
		return readCurl(text)
	case strings.HasPrefix(text, "xds:"):
		return nil, errors.New("xds: is the target of a client of gRPC: choose grpc-go as the target of the page to follow an RPC")
	}
	head, body, _ := strings.Cut(text, "\n\n")
	first, lines, _ := strings.Cut(head, "\n")
	t, err := readLine(strings.TrimSpace(first))
	if err != nil {
		return nil, err
	}
	t.BodyBytes = len(body)
	for line := range strings.Lines(lines) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\n"), ":")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not a header: write NAME: VALUE", shortened(line))
		}
		t.header(strings.TrimSpace(name), strings.Trim(value, " \t"))
	}
	return t, nil
}

// shortened is the beginning of a text.
func shortened(text string) string { return words.Cut(text, 60) }

// readLine reads METHOD URL HTTP/VERSION, of which only the URL is needed.
func readLine(line string) (*typed, error) {
	t := &typed{Request: walk.Request{Method: "GET"}}
	if first, rest, ok := strings.Cut(line, " "); ok && !strings.ContainsAny(first, "/.:") {
		t.Method, line = first, strings.TrimSpace(rest)
		if upper := strings.ToUpper(first); slices.Contains(methods, upper) {
			t.Method = upper
		}
	} else if !ok && slices.Contains(methods, strings.ToUpper(line)) {
		return nil, fmt.Errorf("write what to %s, such as %s https://shop.example.com/cart", line, strings.ToUpper(line))
	}
	for _, version := range []string{"1.0", "1.1", "2"} {
		if before, ok := strings.CutSuffix(line, " HTTP/"+version); ok {
			t.HTTP, line = version, strings.TrimSpace(before)
		}
	}
	if t.Method == "CONNECT" {
		t.Authority = &line
		return t, nil
	}
	return t, t.url(line)
}

// url takes a URL apart. The path stays as it is written.
func (t *typed) url(url string) error {
	before, rest, ok := strings.Cut(url, "://")
	scheme := strings.ToLower(before)
	switch {
	case !ok || strings.ContainsAny(before, "/?#"):
		scheme, rest = "http", url
	case scheme != "http" && scheme != "https":
		return fmt.Errorf("%q is not a URL of http or https", shortened(url))
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host, path := rest[:end], rest[end:]
	path, _, _ = strings.Cut(path, "#") // which clients do not send
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	t.Path, t.TLS = &path, scheme == "https"
	if host == "" {
		return nil
	}
	if at := strings.LastIndex(host, "@"); at >= 0 {
		t.credentials(host[:at])
		host = host[at+1:]
	}
	name, port, err := hostAndPort(host)
	if err != nil {
		return err
	}
	standard := map[string]uint32{"http": 80, "https": 443}[scheme]
	if port == 0 || port == standard { // clients leave it out
		port, host = standard, name
	}
	t.port = port
	t.Authority = &host
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); t.TLS && err != nil {
		t.SNI = name
	}
	return nil
}

// hostAndPort takes NAME:PORT apart. The port is 0 if there is none.
func hostAndPort(host string) (name string, port uint32, err error) {
	i := strings.LastIndex(host, ":")
	if i < 0 || strings.HasSuffix(host, "]") {
		return host, 0, nil
	}
	if host[i+1:] == "" {
		return host[:i], 0, nil
	}
	n, err := strconv.ParseUint(host[i+1:], 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("%q is not a port", shortened(host[i+1:]))
	}
	return host[:i], uint32(n), nil
}

// header adds a header. Host is not one in a walk.
func (t *typed) header(name, value string) {
	if strings.EqualFold(name, "host") {
		t.Authority = &value
		return
	}
	t.Headers = append(t.Headers, walk.Header{name, value})
}

// credentials adds a user and a password.
func (t *typed) credentials(both string) {
	t.header("authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(both)))
}

// splitList splits a list at its commas.
func splitList(text string) (all []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}
