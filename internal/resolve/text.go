package resolve

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/words"
)

// Text writes the answer for people. It reads aloud from the listener to what the RPC gets.
func (a *Answer) Text(w io.Writer, rpc *RPC) error {
	t := &teller{}
	t.line("%s", strings.TrimSuffix(rpc.Method+" of "+rpc.Target, " of "))
	t.level("listener", a.Listener, nil)
	t.level("filter chain", a.FilterChain, nil)
	t.level("route configuration", a.RouteConfig, nil)
	t.level("virtual host", a.VirtualHost, a.Passed)
	for i, way := range a.Ways {
		if i == 0 || way.Route != a.Ways[i-1].Route || way.Route == "" {
			t.level("route", way.Route, way.Passed)
		}
		t.way(way)
	}
	for _, field := range slices.Sorted(maps.Keys(a.Unknown)) {
		t.line("Not known: %s, since %s.", field, a.Unknown[field])
	}
	_, err := io.WriteString(w, words.Printable(t.String()))
	return err
}

type teller struct{ strings.Builder }

func (t *teller) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// level writes a choice, and the candidates that were passed over.
func (t *teller) level(kind, name string, passed []Passed) {
	if name != "" {
		t.line("  %s %s", kind, words.Name(name))
	}
	for _, p := range passed {
		t.line("    not %s: %s", words.Name(p.Name), p.Why)
	}
}

// Of is the share of the RPCs in words; empty for all of them.
func (way *Way) Of() string {
	if way.Share >= 1 {
		return ""
	}
	return fmt.Sprintf("for %.4g%% of the RPCs", 100*way.Share)
}

// Outcome returns what the RPCs get, and why.
func (way *Way) Outcome() []string {
	of := ""
	if way.Cluster == "" && way.Share < 1 {
		of = ", " + way.Of()
	}
	if way.Code == answered && way.Message == "" {
		text := "The server handles the RPC"
		if way.Policy != "" {
			text = "An endpoint of the cluster gets the RPC, chosen by " + way.Policy
		}
		text += of
		if way.Deadline != "" {
			text += ", deadline " + way.Deadline
		}
		if len(way.RetryOn) > 0 {
			text += ", retried on " + strings.Join(way.RetryOn, ", ")
		}
		return []string{text + "."}
	}
	message := way.Message
	if message != "" {
		message = ": " + message
	}
	lines := []string{fmt.Sprintf("The RPC gets %s%s%s.", way.Code, message, of)}
	if way.Why != "" {
		lines = append(lines, way.Why)
	}
	return lines
}

// way writes what happens to a share of the RPCs.
func (t *teller) way(way *Way) {
	if way.Cluster != "" {
		of := way.Of()
		if of != "" {
			of = ", " + of
		}
		t.line("  cluster %s%s", words.Name(way.Cluster), of)
	}
	if way.Delay != nil {
		t.line("    a filter delays %.4g%% of them by %s", 100*way.Delay.Share, way.Delay.By)
	}
	t.localities("", way.Endpoints)
	t.localities("if those fail, ", way.Standby)
	t.line("%s", strings.Join(way.Outcome(), "\n  "))
}

func (t *teller) localities(before string, all []Locality) {
	for _, l := range all {
		t.line("    %s%s: %s", before, l.Where(), words.Few(l.Addresses, 5))
	}
}

// Where is the cluster of an aggregate, the priority, the locality and the share of the RPCs.
func (l *Locality) Where() string {
	where := fmt.Sprintf("priority %d", l.Priority)
	if l.Cluster != "" {
		where = fmt.Sprintf("cluster %s, priority %d", words.Name(l.Cluster), l.Priority)
	}
	if l.Locality != "" {
		where += ", " + l.Locality
	}
	if l.Share > 0 && l.Share < 1 {
		where += fmt.Sprintf(", %.4g%%", 100*l.Share)
	}
	return where
}
