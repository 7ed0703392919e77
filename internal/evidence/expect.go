package evidence

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// get is a line about how often an answer came.
type get struct {
	status int    // 0: the connection was closed
	from   string // empty: anyone
	times  int    // 0: all of them
}

func (g *get) run(_ context.Context, w *world) error {
	n := 0
	for _, a := range w.answers {
		if a.status == g.status && (g.from == "" || a.isFrom(g.from)) {
			n++
		}
	}
	want := g.times
	if want == 0 {
		want = len(w.answers)
	}
	if n != want {
		return fmt.Errorf("%d answers of %d are like that: %s", n, len(w.answers), summary(w.answers))
	}
	return nil
}

func (a answer) isFrom(name string) bool {
	if a.from == "" {
		return name == "Envoy"
	}
	return slices.Contains(strings.Fields(a.from), name)
}

func (a answer) String() string {
	switch {
	case a.closed != nil:
		return "closed (" + a.closed.Error() + ")"
	case a.from == "":
		return strconv.Itoa(a.status) + " from Envoy"
	}
	return strconv.Itoa(a.status) + " from " + a.from
}

// summary says how often each answer came.
func summary(answers []answer) string {
	count := map[string]int{}
	var order []string
	for _, a := range answers {
		if count[a.String()]++; count[a.String()] == 1 {
			order = append(order, a.String())
		}
	}
	for i, text := range order {
		order[i] = fmt.Sprintf("%d × %s", count[text], text)
	}
	return strings.Join(order, ", ")
}

// getHeader is a header of each answer.
type getHeader header

func (g getHeader) run(_ context.Context, w *world) error {
	for _, a := range w.answers {
		if got, has := joined(a.headers, g.name); !has || !fits(g.value, got) {
			return fmt.Errorf("the answer %s has %s: %s", a, g.name, got)
		}
	}
	return nil
}

// getNoHeader is a header that no answer has.
type getNoHeader string

func (g getNoHeader) run(_ context.Context, w *world) error {
	for _, a := range w.answers {
		if got, has := joined(a.headers, string(g)); has || a.closed != nil {
			return fmt.Errorf("the answer %s has %s: %s", a, string(g), got)
		}
	}
	return nil
}

// joined returns the values of a header, separated by commas.
func joined(h http.Header, name string) (values string, has bool) {
	all := h.Values(name)
	return strings.Join(all, ","), len(all) > 0
}

// getCertificate is the name in the certificate of the server.
type getCertificate string

func (g getCertificate) run(_ context.Context, w *world) error {
	for _, a := range w.answers {
		if a.certificate == nil || nameIn(a.certificate) != string(g) {
			return fmt.Errorf("the answer %s came with another certificate: %s", a, nameIn(a.certificate))
		}
	}
	return nil
}

func nameIn(c *x509.Certificate) string {
	if c == nil {
		return "none"
	}
	return c.Subject.CommonName
}

// sees is one or several lines about what an upstream has seen since the last line that sends.
type sees struct {
	name       string
	conditions []condition // of one request
	counted    bool        // count is the number of requests
	count      int
}

// condition is what a request has to fulfil.
type condition interface{ holds(s seen) bool }

func (s *sees) run(ctx context.Context, w *world) error {
	if _, err := w.envoy(ctx); err != nil {
		return err
	}
	upstreams, err := w.named(s.name)
	if err != nil {
		return err
	}
	return w.eventually(ctx, func() error {
		var all []seen
		for _, u := range upstreams {
			all = append(all, u.since()...)
		}
		fulfilled := func(r seen) bool {
			return !slices.ContainsFunc(s.conditions, func(c condition) bool { return !c.holds(r) })
		}
		if s.counted && len(all) == s.count || !s.counted && slices.ContainsFunc(all, fulfilled) {
			return nil
		}
		return fmt.Errorf("%s saw %d requests: %v", s.name, len(all), all)
	})
}

type isRequest struct{ method, path string }

func (c isRequest) holds(s seen) bool { return s.method == c.method && fits(c.path, s.path) }

type hasHeader header

func (c hasHeader) holds(s seen) bool {
	got, has := joined(s.headers, c.name)
	return has && fits(c.value, got)
}

type hasNoHeader string

func (c hasNoHeader) holds(s seen) bool {
	_, has := joined(s.headers, string(c))
	return !has
}

// hasSNI is the server name on the connection of a request; empty: there is none.
type hasSNI string

func (c hasSNI) holds(s seen) bool { return s.sni == string(c) }

type hasBody int

func (c hasBody) holds(s seen) bool { return s.body == int(c) }

// stat is a line about a value of /stats.
type stat struct {
	name    string
	value   int
	atLeast bool
}

func (s *stat) run(ctx context.Context, w *world) error {
	e, err := w.envoy(ctx)
	if err != nil {
		return err
	}
	filter := "/stats?filter=" + url.QueryEscape("^"+regexp.QuoteMeta(s.name)+"$")
	return w.eventually(ctx, func() error {
		text, err := e.Admin(ctx, filter)
		if err != nil {
			return err
		}
		_, value, found := strings.Cut(strings.TrimSpace(string(text)), ": ")
		if !found {
			return errors.New("Envoy has no such stat") //nolint:staticcheck // a name
		}
		got, err := strconv.Atoi(value)
		if err == nil && got != s.value && !(s.atLeast && got > s.value) {
			err = fmt.Errorf("it is %d", got)
		}
		return err
	})
}

// page is a line about a page of the admin interface.
type page struct {
	path, text string
	lacks      bool
}

func (p *page) run(ctx context.Context, w *world) error {
	e, err := w.envoy(ctx)
	if err != nil {
		return err
	}
	return w.eventually(ctx, func() error {
		text, err := e.Admin(ctx, p.path)
		if err == nil && strings.Contains(string(text), p.text) == p.lacks {
			err = fmt.Errorf("the page is:\n%s", text)
		}
		return err
	})
}
