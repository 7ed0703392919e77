package conform_test

import (
	"slices"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/conform"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/reference"
	"github.com/xdslint/xdslint/internal/servers/caches"
	"github.com/xdslint/xdslint/pull"
)

// serve serves what the scenarios are about.
func serve(t *testing.T) (*reference.Store, pull.Server) {
	t.Helper()
	s := reference.NewStore()
	reference.Fill(s)
	l, server := reference.Memory()
	t.Cleanup(reference.ServeOn(s, l).Stop)
	return s, server
}

var edge = &corev3.Node{Id: caches.Node}

// unserved: the clauses that a server without TTLs, REST and virtual hosts on demand does not put to the test.
var unserved = []string{
	"protocol/heartbeat-version", "protocol/poll-answered-unchanged", "protocol/virtual-host-removed", "protocol/virtual-host-misnamed",
}

// kept reports the clauses that are broken, and what could not be tested.
func kept(t *testing.T, report *conform.Report) {
	t.Helper()
	for _, note := range report.Notes {
		t.Error(note)
	}
	for _, c := range report.Clauses {
		if c.Status == conform.Broken {
			t.Errorf("%s\n%s", c, c.Evidence[0].Recorded)
		}
	}
}

// TestReference: the reference server keeps all clauses, and each one is put to the test over some transport: the creation
// of resources for each type over each of them.
func TestReference(t *testing.T) {
	seen := make(chan string, 10000)
	t.Run("transports", func(t *testing.T) {
		overEach(t, "", func(t *testing.T, transport string) {
			s, server := serve(t)
			report, err := conform.Run(t.Context(), server, conform.Options{Node: edge, Change: reference.Changer(s)}.Only(transport))
			if err != nil {
				t.Fatal(err)
			}
			kept(t, report)
			for _, c := range report.Clauses {
				if c.Status != conform.Unseen {
					seen <- c.Clause
				} else if c.Clause == "protocol/creation-not-sent" {
					t.Error(c)
				}
			}
		})
	})
	close(seen)
	tested := slices.Clone(unserved)
	for id := range seen {
		tested = append(tested, id)
	}
	for _, c := range protocol.Clauses() {
		if !c.Client && !slices.Contains(tested, c.Rule.ID()) {
			t.Errorf("%s is never put to the test", c.Rule.ID())
		}
	}
}

// TestUnread: what a client does not read is not taken for what the server does not send. Routes that are referred to and do
// not exist make changes slow: each time, they could be late.
func TestUnread(t *testing.T) {
	overEach(t, "", func(t *testing.T, transport string) {
		s, server := serve(t)
		for _, name := range []string{"web", "internal"} {
			s.Delete(reference.Routes, name)
		}
		report, err := conform.Run(t.Context(), server, conform.Options{Node: edge, Wait: 600 * time.Millisecond, Change: reference.Changer(s)}.Only(transport))
		if err != nil {
			t.Fatal(err)
		}
		kept(t, report)
	})
}
