package snapshots

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/lint"
)

func TestCleanIsAccepted(t *testing.T) {
	envoytest.Need(t)
	top(t)
	verdict, err := envoytest.Validate(t.Context(), filepath.Join(clean, "bootstrap.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if verdict.Outcome != envoytest.Accept {
		t.Error(verdict)
	}
}

// TestRealDumpOfClean: the config dump of a real Envoy with a clean configuration has no findings, whatever Envoy adds or leaves out.
func TestRealDumpOfClean(t *testing.T) {
	envoytest.Need(t)
	top(t)
	if got := lines(t, dumped(t, clean, "api.site.internal", "127.0.0.1")); got != "" {
		t.Errorf("not silent:\n%s", got)
	}
}

// A real Envoy's dump of the storefront shows the mistakes that can be seen in it.
func TestRealDumpOfStorefront(t *testing.T) {
	envoytest.Need(t)
	top(t)
	// It takes no cluster at all while one of them breaks a constraint.
	got := findings(dumped(t, storefront, "connect_timeout: 0s", "connect_timeout: 1s", "authz.shop.internal", "127.0.0.1", "images.cdn.example.net", "127.0.0.1"))
	want := but(findings(check(t, storefront)), map[string]string{
		"schema/constraint": "",
		// It shows an empty assignment for each cluster that waits for one.
		"reference/eds-missing": "",
		// It drops a secret that nothing asks for.
		"reference/orphan-resource": "",
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the findings differ:\n%s", diff)
	}
}

// dumped lints the /config_dump of an Envoy that serves a snapshot, in which some texts are replaced by others.
func dumped(t *testing.T, snapshot string, oldnew ...string) *lint.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	dir := t.TempDir()
	replacer := strings.NewReplacer(append(oldnew, "port_value: 8443", "port_value: 0", "port_value: 10080", "port_value: 0", "{path: ./", "{path: "+dir+"/")...)
	paths, err := filepath.Glob(snapshot + "/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bootstrap := ""
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, name := replacer.Replace(string(raw)), filepath.Base(path)
		if name == "bootstrap.yaml" {
			bootstrap = text
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	envoy, err := envoytest.Serve(ctx, bootstrap, ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer envoy.Close()
	dump, err := envoy.Admin(ctx, "/config_dump?include_eds")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config_dump.json")
	if err := os.WriteFile(path, dump, 0o600); err != nil {
		t.Fatal(err)
	}
	return check(t, path)
}
