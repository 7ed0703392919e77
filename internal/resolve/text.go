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
	t := &teller{handled: "An endpoint of the cluster gets the RPC, chosen by "}
	if rpc.Target == "" {
		t.handled = "The server handles the RPC"
	}
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

type teller struct {
	strings.Builder
	handled string // what becomes of an RPC that does not fail
}

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

// way writes what happens to a share of the RPCs.
func (t *teller) way(way *Way) {
	of := ""
	if way.Share < 1 {
		of = fmt.Sprintf(", for %.4g%% of the RPCs", 100*way.Share)
	}
	if way.Cluster != "" {
		t.line("  cluster %s%s", words.Name(way.Cluster), of)
		of = ""
	}
	if way.Delay != nil {
		t.line("    a filter delays %.4g%% of them by %s", 100*way.Delay.Share, way.Delay.By)
	}
	t.localities("", way.Endpoints)
	t.localities("if those fail, ", way.Standby)
	if way.Code != answered || way.Message != "" {
		message := way.Message
		if message != "" {
			message = ": " + message
		}
		t.line("The RPC gets %s%s%s.", way.Code, message, of)
		if way.Why != "" {
			t.line("  %s", way.Why)
		}
		return
	}
	text := t.handled + way.Policy + of
	if way.Deadline != "" {
		text += ", deadline " + way.Deadline
	}
	if len(way.RetryOn) > 0 {
		text += ", retried on " + strings.Join(way.RetryOn, ", ")
	}
	t.line("%s.", text)
}

func (t *teller) localities(before string, all []Locality) {
	for _, l := range all {
		where := fmt.Sprintf("%spriority %d", before, l.Priority)
		if l.Cluster != "" {
			where = fmt.Sprintf("%scluster %s, priority %d", before, words.Name(l.Cluster), l.Priority)
		}
		if l.Locality != "" {
			where += ", " + l.Locality
		}
		if l.Share > 0 && l.Share < 1 {
			where += fmt.Sprintf(", %.4g%%", 100*l.Share)
		}
		t.line("    %s: %s", where, words.Few(l.Addresses, 5))
	}
}
