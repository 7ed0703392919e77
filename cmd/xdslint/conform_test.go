package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/conform"
	"github.com/xdslint/xdslint/internal/reference"
)

// changeOverHTTP is a command for --change: CMD URL add|change|delete [KIND/NAME].
func changeOverHTTP() {
	q := url.Values{"action": {os.Args[2]}}
	if len(os.Args) > 3 {
		q.Set("what", os.Args[3])
	}
	answer, err := http.Get(os.Args[1] + "?" + q.Encode())
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// conformTo runs xdslint conform, and returns its report and its exit status.
func conformTo(t *testing.T, server *reference.Server, flags ...string) (report conform.Report, status int) {
	t.Helper()
	args := append([]string{"conform", "--ads", server.Address, "--plaintext", "--node", "edge-1", "--wait", "1m", "--format", "json"}, flags...)
	cmd := exec.CommandContext(t.Context(), "xdslint", args...)
	cmd.Stderr = t.Output()
	text, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	return report, cmd.ProcessState.ExitCode()
}

// twice is a session with a flaw: the responses about clusters have the first of them twice.
type twice struct{ reference.Session }

func (s twice) Request(q proto.Message) []proto.Message { return doubled(s.Session.Request(q)) }

func (s twice) Changed() []proto.Message { return doubled(s.Session.Changed()) }

func doubled(responses []proto.Message) []proto.Message {
	for _, m := range responses {
		switch p := m.(type) {
		case *discoveryv3.DiscoveryResponse:
			if p.GetTypeUrl() == reference.Clusters && len(p.GetResources()) > 0 {
				p.Resources = append(p.Resources, p.Resources[0])
			}
		case *discoveryv3.DeltaDiscoveryResponse:
			if p.GetTypeUrl() == reference.Clusters && len(p.GetResources()) > 0 {
				p.Resources = append(p.Resources, p.Resources[0])
			}
		}
	}
	return responses
}

// TestConformBroken: a server that breaks a clause, and no other.
func TestConformBroken(t *testing.T) {
	t.Parallel()
	store := reference.NewStore()
	reference.Fill(store)
	store.Wrap = func(s reference.Session, _ bool) reference.Session { return twice{s} }
	server, err := reference.Serve(store, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	report, status := conformTo(t, server)
	if status != statusFindings {
		t.Errorf("status %d, want %d", status, statusFindings)
	}
	var broken []string
	for _, c := range report.Broken() {
		broken = append(broken, c.Clause+" "+c.Transport+" "+c.Type)
	}
	want := []string{
		"protocol/duplicate-name sotw-ads " + reference.Clusters, "protocol/duplicate-name delta-ads " + reference.Clusters,
		"protocol/duplicate-name sotw " + reference.Clusters, "protocol/duplicate-name delta " + reference.Clusters,
	}
	if diff := cmp.Diff(want, broken); diff != "" {
		t.Error(diff)
	}
}

// TestConform: a server that keeps the protocol, with a command that changes what it serves.
func TestConform(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits after each change until the server is silent")
	}
	t.Parallel()
	store := reference.NewStore()
	reference.Fill(store)
	server, err := reference.Serve(store, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	change := reference.Changer(store)
	http := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := change(r.Context(), r.FormValue("action"), r.FormValue("what")); err != nil {
			t.Error(err)
		}
	}))
	defer http.Close()
	report, status := conformTo(t, server, "--change", "xdslint-change "+http.URL)
	if status != 0 {
		t.Errorf("status %d, want 0", status)
	}
	updates := 0
	for _, c := range report.Clauses {
		if c.Clause == "protocol/update-not-sent" && c.Status == conform.Kept {
			updates++
		}
	}
	if updates != 16 {
		t.Errorf("updates are seen for %d transports and types, want 4 times 4", updates)
	}
}
