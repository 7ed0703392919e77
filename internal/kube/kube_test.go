package kube

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
)

func value(t *testing.T, text string) Value {
	t.Helper()
	docs, err := syntax.ParseYAML(&source.File{Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return ValueOf(docs[0])
}

// Kubernetes rounds what is less than a billionth, and limits what does not fit into 64 bits. It reads a unit without a number as 0.
func TestQuantity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`[+-]?[0-9]{0,6}(\.[0-9]{0,3})?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|e[+-]?[0-9]{1,2}|E[0-9])?`),
			rapid.StringMatching(`[+.0-9a-zA-Z-]{0,6}`),
		).Draw(t, "text")
		want, err := resource.ParseQuantity(text)
		got, ok := quantity(text)
		if number := strings.TrimLeft(text, "+-."); number == "" || number[0] < '0' || number[0] > '9' {
			return
		}
		if ok != (err == nil) {
			t.Fatalf("%q: %v, and Kubernetes says %v", text, ok, err)
		}
		if !ok {
			return
		}
		nanos := new(big.Rat).Mul(got, big.NewRat(1e9, 1))
		if limit := big.NewRat(1<<62, 1); !nanos.IsInt() || new(big.Rat).Abs(got).Cmp(limit) > 0 {
			return
		}
		exact, _ := new(big.Rat).SetString(want.AsDec().String())
		if exact.Cmp(got) != 0 {
			t.Fatalf("%q: %v, and Kubernetes says %v", text, got, exact)
		}
	})
}

func TestCommand(t *testing.T) {
	for name, c := range map[string]struct {
		container, config string
		certain           bool
	}{
		"image":          {"{image: 'envoyproxy/envoy:v1.40.0'}", "/etc/envoy/envoy.yaml", true},
		"args":           {"{image: 'envoyproxy/envoy:v1.40.0', args: [-c, /a.yaml]}", "/a.yaml", true},
		"one word":       {"{image: 'envoyproxy/envoy:v1.40.0', args: ['-c /a.yaml']}", "/a.yaml", true},
		"digest":         {"{image: 'mirror.example:5000/envoy-distroless@sha256:1234'}", "/etc/envoy/envoy.yaml", true},
		"own image":      {"{image: edge, args: [--config-path, /a.yaml]}", "/a.yaml", false},
		"command":        {"{image: edge, command: [/usr/local/bin/envoy], args: [-c, /a.yaml]}", "/a.yaml", true},
		"wrapper":        {"{image: edge, command: [tini, --, envoy, -c, /a.yaml]}", "/a.yaml", true},
		"shell":          {"{image: edge, command: [sh, -c], args: [\"sleep 1; exec envoy -c '/a b.yaml' && true\"]}", "/a b.yaml", true},
		"variable":       {"{image: edge, command: [envoy, -c, $(CONFIG)]}", "", true},
		"other program":  {"{image: 'envoyproxy/envoy:v1.40.0', command: [sleep, '5']}", "", false},
		"other argument": {"{image: 'envoyproxy/envoy:v1.40.0', args: [bash]}", "", false},
		"gateway":        {"{image: 'envoyproxy/envoy-ratelimit:1'}", "", false},
	} {
		line, _ := Container{Value: value(t, c.container)}.Command()
		if config, _ := line.Config(); config != c.config && c.config != "" || line.Certain() != c.certain {
			t.Errorf("%s: %q, certain: %v", name, config, line.Certain())
		}
		if _, ok := line.Config(); ok != (c.config != "") {
			t.Errorf("%s: the bootstrap is known: %v", name, ok)
		}
	}
}

func TestImage(t *testing.T) {
	for image, want := range map[string]string{
		"envoyproxy/envoy:v1.31.2": "1.31", "envoyproxy/envoy:distroless-v1.38.0": "1.38", "envoyproxy/envoy:v1.30-latest": "1.30",
		"envoyproxy/envoy:contrib-v1.39.1": "1.39", "envoy": "", "envoy:dev": "", "bitnami/envoy:1.31.0-debian-12-r3": "1.31",
	} {
		if got, ok := (Container{Value: value(t, "image: "+image)}).Image(); got != want || !ok {
			t.Errorf("%s: %q, %v", image, got, ok)
		}
	}
	for _, image := range []string{"nginx:1.31", "envoyproxy/gateway:v1.5.0", "envoyproxy/envoy-build-ubuntu:1"} {
		if _, ok := (Container{Value: value(t, "image: "+image)}).Image(); ok {
			t.Errorf("%s is an image of Envoy", image)
		}
	}
}

const mounts = `
apiVersion: v1
kind: Pod
spec:
  containers:
  - name: envoy
    volumeMounts:
    - {name: config, mountPath: /etc/envoy}
    - {name: certs, mountPath: /etc/envoy/certs/}
    - {name: config, mountPath: /etc/one.yaml, subPath: envoy.yaml}
    - {name: scratch, mountPath: /tmp}
    - {name: both, mountPath: /both}
  volumes:
  - {name: config, configMap: {name: edge}}
  - {name: certs, secret: {secretName: edge-tls, items: [{key: tls.crt, path: a/b.crt}]}}
  - {name: scratch, emptyDir: {}}
  - {name: both, projected: {sources: [{configMap: {name: edge}}, {secret: {name: edge-tls}}]}}
`

func TestMount(t *testing.T) {
	pod, ok := PodOf(Object{value(t, mounts)})
	if !ok {
		t.Fatal("it is not a pod")
	}
	var container Container
	for c := range pod.Containers() {
		container = c
	}
	for file, want := range map[string][]Key{
		"/etc/envoy/envoy.yaml":    {{"/ConfigMap", "edge", "envoy.yaml"}},
		"/etc/envoy/../envoy/x":    {{"/ConfigMap", "edge", "x"}},
		"/etc/envoy/certs/a/b.crt": {{"/Secret", "edge-tls", "tls.crt"}},
		"/etc/envoy/certs/tls.crt": {{"/Secret", "edge-tls", ""}},
		"/etc/one.yaml":            {{"/ConfigMap", "edge", "envoy.yaml"}},
		"/tmp/x":                   nil,
		"/both/x":                  {{"/ConfigMap", "edge", "x"}, {"/Secret", "edge-tls", "x"}},
	} {
		m, ok := container.Mount(file)
		if got := m.Keys(); !ok || !slices.Equal(got, want) || m.Single() != (file == "/etc/one.yaml") {
			t.Errorf("%s: %v, %v", file, got, ok)
		}
	}
	for _, file := range []string{"/etc/envoyage", "/etc", "etc/envoy.yaml"} {
		if m, ok := container.Mount(file); ok {
			t.Errorf("%s is in %s", file, m.At.Path())
		}
	}
}

func TestPreStop(t *testing.T) {
	for hook, want := range map[string]struct {
		sleep    int
		known    bool
		requests string
	}{
		"{sleep: {seconds: 20}}":              {20, true, ""},
		"{exec: {command: [sleep, '15']}}":    {15, true, ""},
		"{exec: {command: [sleep, 1m]}}":      {60, true, ""},
		"{httpGet: {path: /a, port: 9901}}":   {0, false, "GET /a"},
		"{exec: {command: [/drain.sh]}}":      {0, false, ""},
		"{exec: {command: [sh, -c, 'echo']}}": {0, true, ""},
		"{exec: {command: [sh, -c, 'curl -X POST \"localhost:9901/a?b\" && sleep 5; sleep 7']}}": {12, true, "POST /a?b"},
		"{exec: {command: [sh, -c, 'wget -qO- http://127.0.0.1:9901/a; sleep $WAIT']}}":          {0, false, "GET /a"},
		"{exec: {command: [sh, -c, 'curl localhost:9901/a; /wait; sleep 5']}}":                   {5, false, "GET /a"},
		"{exec: {command: [sh, -c, 'while curl localhost/a; do sleep 5; done']}}":                {0, false, ""},
	} {
		h, ok := Container{Value: value(t, "lifecycle: {preStop: "+hook+"}")}.PreStop()
		sleep, _, known := h.Sleep()
		var requests []string
		for _, r := range h.Requests() {
			requests = append(requests, map[bool]string{false: "GET ", true: "POST "}[r.Post]+r.Path)
		}
		if got := strings.Join(requests, ", "); !ok || sleep != want.sleep || known != want.known || got != want.requests {
			t.Errorf("%s: sleeps %d s, sends %q", hook, sleep, got)
		}
	}
}
