package kube

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// Hook is what Kubernetes does in a container before it ends it.
type Hook struct {
	Value
	commands [][]string // that it runs, if that is known
	request  string     // the path that it requests
}

// PreStop returns the hook. ok is false if there is none.
func (c Container) PreStop() (h Hook, ok bool) {
	h.Value = c.Field("lifecycle", "preStop")
	h.request = h.Field("httpGet", "path").Text()
	var words []string
	for word := range h.Field("exec", "command").Items() {
		words = append(words, word.Text())
	}
	switch {
	case len(words) == 3 && slices.Contains(shells, path.Base(words[0])) && strings.HasSuffix(words[1], "c"):
		h.commands = commands(words[2])
	case len(words) > 0:
		h.commands = [][]string{words}
	}
	return h, h.Exists()
}

// Sleep returns for how many seconds the hook at least waits, and where it says so.
func (h Hook) Sleep() (seconds int, at Value) {
	if at = h.Field("sleep", "seconds"); at.Exists() {
		seconds, _ = at.Int()
		return seconds, at
	}
	for _, command := range h.commands {
		if path.Base(command[0]) == "sleep" && len(command) == 2 {
			n, _ := strconv.Atoi(strings.TrimSuffix(command[1], "s"))
			seconds += n
		}
	}
	return seconds, h.Field("exec", "command")
}

// Request is a request that a hook sends to the admin interface.
type Request struct {
	Path string // with the query
	Post bool
	At   Value
}

// Requests returns the requests that the hook sends, as far as that is known.
func (h Hook) Requests() (all []Request) {
	if h.request != "" {
		all = append(all, Request{h.request, false, h.Field("httpGet")})
	}
	for _, command := range h.commands {
		program := path.Base(command[0])
		if program != "curl" && program != "wget" {
			continue
		}
		for _, word := range command[1:] {
			if _, after, ok := strings.Cut(strings.TrimPrefix(word, "http://"), "/"); ok && !strings.HasPrefix(word, "-") {
				all = append(all, Request{"/" + after, slices.ContainsFunc(command, posts), h.Field("exec", "command")})
			}
		}
	}
	return all
}

// posts reports whether a word on the command line of curl or wget makes a request a POST.
func posts(word string) bool {
	return strings.Contains(word, "POST") || strings.HasPrefix(word, "--post") || word == "-d" || strings.HasPrefix(word, "--data")
}
