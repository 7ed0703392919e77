package load

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/graph"
)

// certified is a bootstrap that names files: a certificate, a key, a password, a CA, and a token, which is not read.
const certified = `static_resources:
  clusters:
  - name: shop
    transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        common_tls_context:
          tls_certificates:
          - certificate_chain: {filename: ./shop.crt}
            private_key: {filename: /keys/shop.key}
            password: {filename: ./password}
          validation_context: {trusted_ca: {filename: ./ca.crt}}
  secrets:
  - name: tickets
    session_ticket_keys: {keys: [{filename: ./ticket}, {inline_string: x}]}
  - name: token
    generic_secret: {secret: {filename: ./token}}
`

// filesOf lists the files of all resources as the rules see them.
func filesOf(in *Input) (all []string) {
	for _, r := range in.Snapshots[0].Resources {
		for _, name := range slices.Sorted(maps.Keys(r.Files)) {
			f := r.Files[name]
			all = append(all, fmt.Sprintf("%s %s: %.20q %s", r.Kind, name, f.Data, f.Missing))
		}
	}
	return all
}

// TestDataFiles: the files that data sources name are read from the bootstrap's folder and from Root.
func TestDataFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"etc/boot.yaml": certified, "etc/shop.crt": "chain", "etc/password": "secret", "etc/ticket": "key", "etc/token": "secret", "root/keys/shop.key": "private",
		"etc/ca.crt": strings.Repeat("x", maxDataFile+1),
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for root, want := range map[string][]string{
		"":      {`cluster ./password: "secret" `, `cluster ./shop.crt: "chain" `, `secret ./ticket: "key" `},
		"root":  {`cluster ./password: "secret" `, `cluster ./shop.crt: "chain" `, `cluster /keys/shop.key: "private" `, `secret ./ticket: "key" `},
		"empty": {`cluster ./password: "secret" `, `cluster ./shop.crt: "chain" `, `cluster /keys/shop.key: "" it does not exist`, `secret ./ticket: "key" `},
	} {
		in, err := Paths(context.Background(), []string{"etc/boot.yaml"}, Options{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, filesOf(in)); diff != "" {
			t.Errorf("root %q: %s", root, diff)
		}
		unread := []string{"/keys/shop.key"}
		if root != "" {
			unread = nil
		}
		if diff := cmp.Diff(unread, in.Unread); diff != "" {
			t.Errorf("root %q: unread: %s", root, diff)
		}
	}
}

// TestDataFilesOfTexts: of texts, nothing else is read, and a resource is read again when a file that it names has changed.
func TestDataFilesOfTexts(t *testing.T) {
	var e Earlier
	load := func(texts map[string]string) (cluster *graph.Resource, files []string) {
		t.Helper()
		given := map[string][]byte{"boot.yaml": []byte(certified)}
		for name, text := range texts {
			given[name] = []byte(text)
		}
		in, err := Texts(context.Background(), given, Options{Earlier: &e})
		if err != nil {
			t.Fatal(err)
		}
		return in.Snapshots[0].Find(graph.Cluster, graph.Static, "shop"), filesOf(in)
	}
	first, files := load(map[string]string{"shop.crt": "-----BEGIN A"})
	if diff := cmp.Diff([]string{`cluster ./shop.crt: "-----BEGIN A" `}, files); diff != "" {
		t.Error(diff)
	}
	if same, _ := load(map[string]string{"shop.crt": "-----BEGIN A"}); same != first {
		t.Error("the same cluster is read again")
	}
	second, files := load(map[string]string{"shop.crt": "-----BEGIN B", "shop.key": "-----BEGIN KEY"})
	if diff := cmp.Diff([]string{`cluster ./shop.crt: "-----BEGIN B" `, `cluster /keys/shop.key: "-----BEGIN KEY" `}, files); diff != "" {
		t.Error(diff)
	}
	if second == first || !bytes.Equal(first.Files["./shop.crt"].Data, []byte("-----BEGIN A")) {
		t.Error("the cluster of the earlier load has changed")
	}
}
