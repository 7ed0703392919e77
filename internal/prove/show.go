package prove

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/xdslint/xdslint/internal/walk"
	"github.com/xdslint/xdslint/internal/words"
)

// Text writes the proof for people.
func (p *Proof) Text(w io.Writer) error {
	var b strings.Builder
	for _, d := range p.Differences {
		d.text(&b)
	}
	for _, what := range p.Undecided {
		fmt.Fprintf(&b, "not decided: %s\n", what)
	}
	if len(p.Undecided) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(p.summary() + "\n")
	_, err := io.WriteString(w, words.Printable(b.String()))
	return err
}

func (p *Proof) summary() string {
	switch n := len(p.Differences); {
	case p.Alike:
		return "OLD and NEW treat all requests alike"
	case n == 0:
		return "no request is known that OLD and NEW treat differently, but " + words.Count(len(p.Undecided), "thing") + " could not be decided"
	case n == MaxDifferences:
		return fmt.Sprintf("OLD and NEW treat requests differently; these are the first %d", n)
	case n == 1:
		return "OLD and NEW treat this request differently"
	default:
		return fmt.Sprintf("OLD and NEW treat these %d requests differently", n)
	}
}

func (d Difference) text(b *strings.Builder) {
	fmt.Fprintf(b, "%s\n%s\n", line(d.Request), d.Curl)
	for _, side := range []struct {
		name   string
		answer *walk.Answer
	}{{"OLD", d.Old}, {"NEW", d.New}} {
		fmt.Fprintf(b, "  %s: %s\n", side.name, brief(side.answer, d.Fields))
	}
	b.WriteByte('\n')
}

// brief says where a request goes, or what answers it, and the fields that differ.
func brief(a *walk.Answer, fields []string) string {
	if a == nil {
		return "no listener takes the connection"
	}
	text := outcome(a)
	if a.Route != "" {
		text += " by route " + a.Route
	}
	var all map[string]json.RawMessage
	_ = json.Unmarshal(line(a), &all)
	for _, field := range fields {
		if field == "endpoints" {
			text += ", " + endpoints(a)
			continue
		}
		name, of, nested := strings.Cut(field, ".")
		value := all[name]
		if nested {
			var inner map[string]json.RawMessage
			_ = json.Unmarshal(value, &inner)
			value = inner[of]
		}
		if name != "status" && name != "cluster" {
			text += ", " + field + " " + orNone(value)
		}
	}
	return text
}

func outcome(a *walk.Answer) string {
	switch {
	case a.Cluster != nil:
		return "cluster " + *a.Cluster
	case len(a.Weighted) > 0:
		return "one of " + words.Count(len(a.Weighted), "cluster")
	case a.Status != nil:
		return fmt.Sprintf("status %d", *a.Status)
	case a.Unknown["status"] != "":
		return "a status that is not known"
	}
	return "the connection is closed"
}

func endpoints(a *walk.Answer) string {
	var all []string
	for _, e := range a.Endpoints {
		all = append(all, e.Addresses...)
	}
	return "endpoints " + words.Few(all, 5)
}

// line is a value as one line of JSON.
func line(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // requests and answers are made of what JSON has
	return bytes.TrimSpace(b.Bytes())
}

func orNone(value json.RawMessage) string {
	if len(value) == 0 || string(value) == "null" {
		return "none"
	}
	return string(value)
}
