//go:build kubernetes

package kubetest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWebhook applies deploy/self-signed unchanged, and runs the server as a node would. Each part depends on those before it.
func TestWebhook(t *testing.T) {
	c := startCluster(t)
	c.must(t, "", "apply", "--server-side", "-f", filepath.Join(tools, "crds"))
	c.must(t, "", "wait", "--for=condition=Established", "crd", "--all", "--timeout", patience.String())
	w := deploy(t, c)
	if *record {
		startRecorder(t, c)
	}
	t.Run("deploy", w.testDeploy)
	t.Run("objects", w.testObjects)
	t.Run("manifests", w.testManifests)
	t.Run("updates", w.testUpdates)
	t.Run("exempt", w.testExempt)
	t.Run("large", w.testLarge)
	t.Run("rotation", w.testRotation)
	t.Run("unreachable", w.testUnreachable)
}

// webhook is a cluster in which deploy/ is applied, and the server that it leads to.
type webhook struct {
	*cluster
	dir    string // scratch
	deploy string // a copy of deploy/, with a certificate
	listen string
	server *process
}

func deploy(t *testing.T, c *cluster) *webhook {
	t.Helper()
	dir := t.TempDir()
	w := &webhook{cluster: c, dir: dir, deploy: filepath.Join(dir, "deploy")}
	run(t, "go", "build", "-o", dir, "../../cmd/xdslint")
	w.apply(t, w.deploy)

	// What the controllers do in a whole cluster: the Service leads to the server.
	host := address(t)
	port := freePort(t)
	w.listen = net.JoinHostPort(host, fmt.Sprint(port))
	c.must(t, fmt.Sprintf(`{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4,
metadata: {name: xdslint, namespace: xdslint-system, labels: {kubernetes.io/service-name: xdslint}},
ports: [{name: https, port: %d}], endpoints: [{addresses: [%q]}]}`, port, host), "apply", "-f", "-")
	w.serve(t)
	return w
}

// apply copies deploy/, makes a certificate there, and applies it.
func (w *webhook) apply(t *testing.T, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS("../../deploy")); err != nil {
		t.Fatal(err)
	}
	run(t, filepath.Join(w.dir, "xdslint"), "certificate", "--out", filepath.Join(to, "self-signed"))
	w.must(t, "", "apply", "-k", filepath.Join(to, "self-signed"))
}

// address of this machine that a Service may lead to: none of the loopback interface.
func address(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if network, ok := one.(*net.IPNet); ok && network.IP.To4() != nil && network.IP.IsGlobalUnicast() {
			return network.IP.String()
		}
	}
	t.Fatal("this machine has no IPv4 address beside that of its loopback interface: a Service cannot lead to it")
	return ""
}

// serve starts the server as deploy/base does, and waits until it is asked.
func (w *webhook) serve(t *testing.T) {
	t.Helper()
	secret := filepath.Join(w.deploy, "self-signed")
	w.server = start(t, w.dir, filepath.Join(w.dir, "xdslint"), "serve", "--no-config", "--webhook-only", "--listen", w.listen,
		"--tls-cert", filepath.Join(secret, "tls.crt"), "--tls-key", filepath.Join(secret, "tls.key"), "--max-body", "8MiB")
	w.refuses(t)
}

// refuses waits until the API server asks the server.
func (w *webhook) refuses(t *testing.T) {
	t.Helper()
	eventually(t, "the webhook refuses something", func() error {
		_, stderr, err := w.kubectl(t, "", "apply", "--dry-run=server", "-f", "testdata/bad-configmap.yaml")
		if err == nil || !strings.Contains(stderr, "denied the request") {
			return fmt.Errorf("%v: %s", err, stderr)
		}
		return nil
	})
}

// testDeploy looks at the manifests themselves.
func (w *webhook) testDeploy(t *testing.T) {
	stdout, _ := w.must(t, "", "diff", "-k", filepath.Join(w.deploy, "self-signed"))
	if stdout != "" {
		t.Errorf("the manifests are not what the API server makes of them:\n%s", stdout)
	}
	_, stderr := w.must(t, "", "apply", "--dry-run=server", "-k", filepath.Join(w.deploy, "cert-manager"))
	if stderr != "" {
		t.Error(stderr)
	}
	// A pod of the Deployment is one that its namespace takes: it enforces the restricted standard.
	spec, _ := w.must(t, "", "get", "deployment", "xdslint", "-n", "xdslint-system", "-o", "jsonpath={.spec.template.spec}")
	w.must(t, fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: {name: xdslint}, spec: %s}", spec), "create", "--dry-run=server", "-n", "xdslint-system", "-f", "-")
}

// testObjects applies each file of testdata, first as a dry run. The output of kubectl is in a file next to it. The name of the file says what must
// happen to the object.
func (w *webhook) testObjects(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, _, _ := strings.Cut(filepath.Base(file), "-")
			_, dry, dryErr := w.kubectl(t, "", "apply", "--dry-run=server", "-f", file)
			if w.stored(t, file) {
				t.Error("the dry run has stored it")
			}
			stdout, stderr, err := w.kubectl(t, "", "apply", "-f", file)
			if (err != nil) != (want == "bad") || w.stored(t, file) != (want != "bad") {
				t.Errorf("kubectl: %v, stored: %t\n%s", err, w.stored(t, file), stderr)
			}
			if warned := strings.Contains(stderr, "Warning: "); want == "warned" && !warned || want == "good" && stderr != "" {
				t.Errorf("kubectl says: %s", stderr)
			}
			if dry != stderr || (dryErr != nil) != (err != nil) {
				t.Errorf("the dry run said something else: %v %s", dryErr, dry)
			}
			if strings.Contains(stderr, "hunter2") {
				t.Error("a secret is shown")
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".txt", stdout+stderr)
		})
	}
}

// stored reports whether the object of a file exists.
func (w *webhook) stored(t *testing.T, file string) bool {
	t.Helper()
	_, stderr, err := w.kubectl(t, "", "get", "-f", file)
	if err != nil && !strings.Contains(stderr, "(NotFound)") {
		t.Errorf("%v: %s", err, stderr)
	}
	return err == nil
}

// testUpdates changes an object in which there was an error before it was checked.
func (w *webhook) testUpdates(t *testing.T) {
	const cm, known = "configmap/edge-unchecked", "Warning: xdslint: this error existed before: "
	patch := func(text string) (stderr string, err error) {
		_, stderr, err = w.kubectl(t, "", "patch", cm, "--type=merge", "-p", text)
		return stderr, err
	}
	if _, stderr := w.must(t, "", "label", cm, "xdslint.dev/check=true"); strings.Count(stderr, known) != 2 {
		t.Errorf("labelled: %s", stderr)
	}
	if _, stderr := w.must(t, "", "annotate", cm, "example.com/team=edge"); stderr != "" {
		t.Errorf("annotated: %s", stderr)
	}
	if stderr, err := patch(`{"data": {"README.txt": "changed"}}`); err != nil || strings.Count(stderr, known) != 2 {
		t.Errorf("changed elsewhere: %v %s", err, stderr)
	}
	const worse = `{"data": {"more.yaml": "resources: [{'@type': type.googleapis.com/envoy.config.cluster.v3.Cluster, name: more, connect_timeout: -1s}]"}}`
	if stderr, err := patch(worse); err == nil || !strings.Contains(stderr, "xdslint: 1 error in ConfigMap default/edge-unchecked") || strings.Count(stderr, known) != 2 {
		t.Errorf("a new error: %v %s", err, stderr)
	}
	stdout, _ := w.must(t, "", "get", "configmap", "edge", "-o", "jsonpath={.data}")
	if stderr, err := patch(fmt.Sprintf(`{"data": %s}`, stdout)); err != nil || stderr != "" {
		t.Errorf("fixed: %v %s", err, stderr)
	}
	if stderr, err := patch(worse); err == nil {
		t.Errorf("a new error in what was fixed: %s", stderr)
	}
}

// testExempt tries what is not for xdslint to judge.
func (w *webhook) testExempt(t *testing.T) {
	if _, stderr := w.must(t, "", "apply", "-n", "kube-system", "-f", "testdata/bad-configmap.yaml"); stderr != "" {
		t.Errorf("in kube-system: %s", stderr)
	}
	text, err := os.ReadFile("testdata/bad-envoyfilter.yaml")
	if err != nil {
		t.Fatal(err)
	}
	exempt := strings.Replace(string(text), "metadata:\n", "metadata:\n  labels: {xdslint.dev/check: \"false\"}\n", 1)
	if _, stderr := w.must(t, exempt, "apply", "-f", "-"); stderr != "" {
		t.Errorf("labelled false: %s", stderr)
	}
	// The label is back, and what is wrong was there before.
	if _, stderr := w.must(t, string(text), "apply", "-f", "-"); stderr != "" {
		t.Errorf("its spec has not changed, and still: %s", stderr)
	}
}

// testLarge changes a ConfigMap that is as large as one can be: the matchConditions, whose cost is limited, compare it.
func (w *webhook) testLarge(t *testing.T) {
	var clusters strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&clusters, "    - {\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: cluster-%06d, connect_timeout: 1s, type: STATIC, "+
			"load_assignment: {cluster_name: cluster-%06d}, alt_stat_name: %q}\n", i, i, strings.Repeat("s", 60))
	}
	manifest := func(more string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large, labels: {xdslint.dev/check: \"true\"}}\n" +
			"data:\n  cds.yaml: |\n    resources:\n" + clusters.String() + more
	}
	w.must(t, manifest(""), "apply", "--server-side", "-f", "-")
	_, stderr, err := w.kubectl(t, manifest("    - {\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: more, connect_timeout: -1s}\n"), "apply", "--server-side", "-f", "-")
	if err == nil || !strings.Contains(stderr, "xdslint: 1 error in ConfigMap default/large") {
		t.Errorf("%v %s", err, stderr)
	}
}

// testUnreachable stops the server: by default all is stored unchecked, and with failurePolicy Fail nothing that would be checked is.
func (w *webhook) testUnreachable(t *testing.T) {
	const bad = "testdata/bad-configmap.yaml"
	w.server.stop()
	if _, stderr := w.must(t, "", "apply", "-f", bad); stderr != "" {
		t.Errorf("Ignore: %s", stderr)
	}
	// Which is how one learns of it.
	if stdout, _ := w.must(t, "", "get", "--raw", "/metrics"); !strings.Contains(stdout, `apiserver_admission_webhook_fail_open_count{name="config.xdslint.dev",type="validating"}`) {
		t.Error("the API server does not count what it lets in unchecked")
	}
	w.must(t, "", "annotate", "-f", bad, "example.com/team=edge")

	w.must(t, "", "patch", "validatingwebhookconfiguration", "xdslint", "--type=json", "-p", `[{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Fail"}]`)
	eventually(t, "failurePolicy Fail holds", func() error {
		_, stderr, err := w.kubectl(t, "", "label", "--dry-run=server", "-f", bad, "example.com/more=label")
		if err == nil || !strings.Contains(stderr, `failed calling webhook "config.xdslint.dev"`) {
			return fmt.Errorf("%v: %s", err, stderr)
		}
		return nil
	})
	// What is not for xdslint goes on, and what must go can go.
	w.must(t, "", "annotate", "-f", bad, "example.com/team=shop", "--overwrite")
	w.must(t, "", "create", "configmap", "unlabelled", "--from-literal=a=b")
	w.must(t, "", "label", "-f", bad, "xdslint.dev/check=false", "--overwrite")
	if _, stderr, err := w.kubectl(t, "", "label", "-f", bad, "xdslint.dev/check=true", "--overwrite"); err == nil {
		t.Errorf("it is to be checked, and nobody does: %s", stderr)
	}
	w.must(t, "", "patch", "-f", bad, "--type=merge", "-p", `{"metadata": {"finalizers": ["example.com/held"]}}`)
	w.must(t, "", "delete", "--wait=false", "-f", bad)
	w.must(t, "", "patch", "-f", bad, "--type=merge", "-p", `{"metadata": {"finalizers": null, "labels": {"xdslint.dev/check": "true"}}}`)
	if w.stored(t, bad) {
		t.Error("it is still there")
	}
	w.serve(t)
}

// testRotation makes a new certificate. Once the API server has the new authority it believes nothing else, until the running server takes the
// certificate up.
func (w *webhook) testRotation(t *testing.T) {
	next := filepath.Join(t.TempDir(), "deploy")
	w.apply(t, next)
	eventually(t, "the old certificate is not believed", func() error {
		_, stderr, err := w.kubectl(t, "", "apply", "--dry-run=server", "-f", "testdata/bad-configmap.yaml")
		if err != nil {
			return fmt.Errorf("%w: %s", err, stderr)
		}
		return nil
	})
	for _, name := range []string{"tls.crt", "tls.key"} {
		if err := os.Rename(filepath.Join(next, "self-signed", name), filepath.Join(w.deploy, "self-signed", name)); err != nil {
			t.Fatal(err)
		}
	}
	w.refuses(t)
}

func run(t *testing.T, program string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *record {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (-record rewrites it), got:\n%s\nwant:\n%s", file, got, want)
	}
}
