package kube

import (
	"path"
	"slices"
	"strings"
	"time"
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
	if slices.ContainsFunc(h.commands, controls) {
		h.commands = nil
	}
	return h, h.Exists()
}

// controls reports whether a command decides whether or how often others run.
func controls(command []string) bool {
	return slices.Contains([]string{"while", "until", "for", "do", "if", "then", "else", "case", "{"}, command[0])
}

// Sleep returns for how many seconds the hook waits, and where it says so. known is false if it may wait longer.
func (h Hook) Sleep() (seconds int, at Value, known bool) {
	if at = h.Field("sleep", "seconds"); at.Exists() {
		seconds, known = at.Int()
		return seconds, at, known
	}
	known = len(h.commands) > 0
	for _, command := range h.commands {
		switch path.Base(command[0]) {
		case "sleep":
			d, ok := sleeps(command)
			seconds += int(d.Seconds())
			known = known && ok
		case "curl", "wget", "echo", "true", "exit":
		default:
			known = false
		}
	}
	return seconds, h.Field("exec", "command"), known
}

func sleeps(command []string) (d time.Duration, ok bool) {
	if len(command) != 2 {
		return 0, false
	}
	text := command[1]
	if strings.Trim(text, "0123456789.") == "" {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
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
