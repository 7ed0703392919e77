package evidence

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Parse reads the section of an archive. An error names the line in it.
func Parse(name, text string) (*Evidence, error) {
	p := &parser{evidence: &Evidence{name: name, patience: patience}}
	for i, line := range strings.Split(text, "\n") {
		p.line = i + 1
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			p.sees = nil
			continue
		}
		if err := p.parse(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, p.line, err)
		}
	}
	if !p.expects {
		return nil, fmt.Errorf("%s: nothing is expected: add a line with get, sees, stat or admin", name)
	}
	return p.evidence, nil
}

type parser struct {
	evidence *Evidence
	line     int
	send     *send // the last one, to which with belongs until something is expected
	sees     *sees // of the line before
	expects  bool
}

var errVerb = errors.New("a line begins with upstream, replace, send, with, get, stat or admin, or is NAME sees …")

func (p *parser) parse(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	who, what, isSees := strings.Cut(line, " sees ")
	if !isSees || strings.Contains(who, " ") {
		p.sees = nil
	}
	switch verb {
	case "upstream":
		return p.add(parseUpstream(rest))
	case "replace":
		return p.add(parseReplace(rest))
	case "send":
		s, err := parseSend(rest)
		p.send = s
		return p.add(s, err)
	case "with":
		if p.send == nil || p.evidence.steps[len(p.evidence.steps)-1].do != action(p.send) {
			return errors.New("with continues a line that begins with send")
		}
		return p.send.with(rest)
	case "get":
		if p.send == nil {
			return errors.New("nothing has been sent before")
		}
		p.expects = true
		return p.add(parseGet(rest))
	case "stat":
		p.expects = true
		return p.add(parseStat(rest))
	case "admin":
		p.expects = true
		return p.add(parsePage(rest))
	}
	if !isSees || strings.Contains(who, " ") {
		return errVerb
	}
	p.expects = true
	if p.sees == nil || p.sees.name != who {
		p.sees = &sees{name: who}
		_ = p.add(p.sees, nil)
	}
	return p.sees.parse(what)
}

func (p *parser) add(do action, err error) error {
	if err == nil {
		p.evidence.steps = append(p.evidence.steps, step{p.line, do})
	}
	return err
}

// words are those of a line, of which a parser takes one after the other.
type words []string

func (w *words) take() string {
	if len(*w) == 0 {
		return ""
	}
	first := (*w)[0]
	*w = (*w)[1:]
	return first
}

// accept takes the words if they come next.
func (w *words) accept(text string) bool {
	expected := strings.Fields(text)
	if len(*w) < len(expected) || strings.Join((*w)[:len(expected)], " ") != text {
		return false
	}
	*w = (*w)[len(expected):]
	return true
}

// times takes "3 times" or "once" if it comes next.
func (w *words) times(n *int) bool {
	if w.accept("once") {
		*n = 1
		return true
	}
	if len(*w) < 2 || (*w)[1] != "times" {
		return false
	}
	count, err := strconv.Atoi((*w)[0])
	if err != nil || count < 1 {
		return false
	}
	*n, *w = count, (*w)[2:]
	return true
}

// end returns an error if there are more words.
func (w *words) end() error {
	if len(*w) > 0 {
		return fmt.Errorf("%q is not understood here", strings.Join(*w, " "))
	}
	return nil
}

// header is a name and a value, in which … stands for any text.
type header struct{ name, value string }

var headerLine = regexp.MustCompile(`^(:?[A-Za-z0-9_-]+): ?(.*)$`)

func parseHeader(text string) (header, bool) {
	found := headerLine.FindStringSubmatch(text)
	if found == nil {
		return header{}, false
	}
	return header{strings.ToLower(found[1]), found[2]}, true
}

// fits reports whether a text is the wanted one, in which … stands for any text.
func fits(wanted, text string) bool {
	if !strings.Contains(wanted, "…") {
		return wanted == text
	}
	return regexp.MustCompile("^(?s:" + strings.ReplaceAll(regexp.QuoteMeta(wanted), "…", ".*") + ")$").MatchString(text)
}

func parseUpstream(text string) (action, error) {
	w := words(strings.Fields(text))
	u := &behave{name: w.take()}
	switch {
	case w.accept("hangs"):
		u.change = func(b *behaviour) { b.hangs = true }
	case w.accept("closes"):
		u.change = func(b *behaviour) { b.closes = true }
	case w.accept("is lost"):
		u.change = func(b *behaviour) { b.lost = true }
	case w.accept("answers with"):
		h, ok := parseHeader(strings.Join(w, " "))
		if !ok {
			return nil, errors.New("answers with HEADER: VALUE")
		}
		u.change = func(b *behaviour) { b.headers = append(b.headers, h) }
		w = nil
	case w.accept("answers"):
		status, err := strconv.Atoi(w.take())
		if err != nil {
			return nil, errors.New("answers STATUS, such as 503")
		}
		var after time.Duration
		if w.accept("after") {
			if after, err = time.ParseDuration(w.take()); err != nil {
				return nil, err
			}
		}
		u.change = func(b *behaviour) { b.status, b.after = status, after }
	case w.accept("speaks TLS"):
		t := &tlsServer{}
		if len(w) > 0 && w[0] != "as" {
			t.version = w.take()
			if _, known := tlsVersions[t.version]; !known {
				return nil, fmt.Errorf("TLS %s: say 1.2 or 1.3", t.version)
			}
		}
		if w.accept("as") {
			t.name = w.take()
		}
		u.change = func(b *behaviour) { b.tls = t }
	default:
		return nil, errors.New("an upstream answers STATUS, hangs, closes, is lost or speaks TLS")
	}
	return u, w.end()
}

func parseReplace(text string) (action, error) {
	name, other, ok := strings.Cut(text, " by ")
	if !ok {
		return nil, errors.New("replace NAME by NAME")
	}
	return &replace{name, other}, nil
}

func parseSend(text string) (*send, error) {
	w := words(strings.Fields(text))
	s := &send{method: w.take(), path: w.take(), times: 1}
	if s.path == "" {
		return nil, errors.New("send METHOD PATH")
	}
	for len(w) > 0 {
		switch {
		case w.accept("to"):
			s.listener = w.take()
		case w.accept("over TLS"):
			s.tls = true
		case w.accept("over IPv4"):
			s.ip = "127.0.0.1"
		case w.accept("over 127.0.0.2"):
			s.ip = "127.0.0.2"
		case w.accept("over HTTP/2"):
			s.http2 = true
		case w.times(&s.times):
		default:
			return nil, w.end()
		}
	}
	return s, nil
}

// with adds a line to the request.
func (s *send) with(text string) error {
	if h, ok := parseHeader(text); ok {
		s.headers = append(s.headers, h)
		return nil
	}
	w := words(strings.Fields(text))
	switch {
	case w.accept("body of"):
		n, err := parseBytes(&w)
		if err != nil {
			return err
		}
		s.body = n
	case w.accept("first line"):
		s.firstLine = strings.Join(w, " ")
		return nil
	case !s.tls:
		return errors.New("with HEADER: VALUE, body of N bytes or first line TEXT; and after over TLS: SNI, ALPN, certificate or trust in")
	case w.accept("SNI"):
		s.sni = w.take()
	case w.accept("ALPN"):
		s.alpn = strings.Split(w.take(), ",")
	case w.accept("self-signed certificate"):
		s.certificate, s.selfSigned = w.take(), true
	case w.accept("certificate"):
		s.certificate = w.take()
	case w.accept("trust in"):
		s.trust = w.take()
	default:
		return w.end()
	}
	return w.end()
}

func parseBytes(w *words) (int, error) {
	n, err := strconv.Atoi(w.take())
	if err != nil || !w.accept("bytes") {
		return 0, errors.New("body of N bytes")
	}
	return n, nil
}

func parseGet(text string) (action, error) {
	if h, ok := parseHeader(text); ok {
		return getHeader(h), nil
	}
	w := words(strings.Fields(text))
	if w.accept("no") {
		return getNoHeader(w.take()), w.end()
	}
	if w.accept("certificate") {
		return getCertificate(w.take()), w.end()
	}
	g := &get{}
	if word := w.take(); word != "closed" {
		var err error
		if g.status, err = strconv.Atoi(word); err != nil {
			return nil, errors.New("get STATUS, closed, HEADER: VALUE, no HEADER or certificate NAME")
		}
		if w.accept("from") {
			g.from = w.take()
		}
	}
	w.times(&g.times)
	return g, w.end()
}

func (s *sees) parse(text string) error {
	if h, ok := parseHeader(text); ok {
		s.conditions = append(s.conditions, hasHeader(h))
		return nil
	}
	w := words(strings.Fields(text))
	switch {
	case w.accept("nothing"):
		s.counted = true
	case w.accept("no SNI"):
		s.conditions = append(s.conditions, hasSNI(""))
	case w.accept("SNI"):
		s.conditions = append(s.conditions, hasSNI(w.take()))
	case w.accept("no"):
		s.conditions = append(s.conditions, hasNoHeader(strings.ToLower(w.take())))
	case w.accept("body of"):
		n, err := parseBytes(&w)
		if err != nil {
			return err
		}
		s.conditions = append(s.conditions, hasBody(n))
	case len(w) == 2 && (w[1] == "requests" || w[1] == "request"):
		n, err := strconv.Atoi(w[0])
		if err != nil {
			return err
		}
		s.counted, s.count, w = true, n, nil
	case len(w) == 2:
		s.conditions = append(s.conditions, isRequest{w.take(), w.take()})
	default:
		return fmt.Errorf("%s sees METHOD PATH, HEADER: VALUE, no HEADER, SNI NAME, no SNI, body of N bytes, nothing or N requests", s.name)
	}
	if s.counted && len(s.conditions) > 0 {
		return errors.New("count requests on a line of its own, after an empty line")
	}
	return w.end()
}

func parseStat(text string) (action, error) {
	w := words(strings.Fields(text))
	s := &stat{name: w.take()}
	if !w.accept("is") {
		return nil, errors.New("stat NAME is [at least] N")
	}
	s.atLeast = w.accept("at least")
	n, err := strconv.Atoi(w.take())
	if err != nil {
		return nil, errors.New("stat NAME is [at least] N")
	}
	s.value = n
	return s, w.end()
}

func parsePage(text string) (action, error) {
	path, rest, _ := strings.Cut(text, " ")
	verb, wanted, ok := strings.Cut(rest, " ")
	if !ok || verb != "shows" && verb != "lacks" {
		return nil, errors.New("admin PATH shows TEXT, or lacks TEXT")
	}
	return &page{path: path, text: wanted, lacks: verb == "lacks"}, nil
}
