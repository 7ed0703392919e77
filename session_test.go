package xdslint_test

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/rules"
)

// parts are what bootstraps are made of: what is around static resources, and these, by their lists.
type parts struct {
	rests []string
	items map[string][]string
}

var named = regexp.MustCompile(`name: *[^ ,}]+`)

var lists = []string{"listeners", "clusters", "secrets"}

// partsOf takes the examples of the rules apart.
func partsOf(t *testing.T) *parts {
	t.Helper()
	paths, err := filepath.Glob("testdata/rules/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := &parts{rests: []string{fromFile}, items: map[string][]string{}}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if text := (explain.File{Name: f.Name, Text: string(f.Data)}).Whole(); strings.HasSuffix(f.Name, ".yaml") && strings.Contains(text, "static_resources:\n") {
				all.add(text)
			}
		}
	}
	return all
}

// add takes a text apart by its indentation.
func (p *parts) add(text string) {
	rest, list, static := "", "", false
	for line := range strings.Lines(text) {
		key := strings.TrimSuffix(strings.TrimSpace(line), ":")
		switch {
		case !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "#"):
			if static, list = line == "static_resources:\n", ""; !static {
				rest += line
			}
		case !static:
			rest += line
		case slices.Contains(lists, key) && line == "  "+key+":\n":
			list = key
		case list != "" && strings.HasPrefix(line, "  - "):
			p.items[list] = append(p.items[list], line)
		case list != "" && len(p.items[list]) > 0:
			p.items[list][len(p.items[list])-1] += line
		}
	}
	p.rests = append(p.rests, rest)
}

// draw makes a bootstrap.
func (p *parts) draw(t *rapid.T) string {
	var b strings.Builder
	b.WriteString(p.rests[max(0, rapid.IntRange(-len(p.rests)/4, len(p.rests)-1).Draw(t, "rest"))])
	b.WriteString("static_resources:\n")
	known := map[string]bool{}
	for _, list := range lists {
		n := rapid.IntRange(0, 12).Draw(t, list)
		if n > 0 {
			b.WriteString("  " + list + ":\n")
		}
		first := rapid.IntRange(0, len(p.items[list])-1).Draw(t, "first")
		for i := range n { // neighbours, so that names are found; few have the same one
			item := p.items[list][(first+i)%len(p.items[list])]
			if name := list + named.FindString(item); !known[name] || rapid.IntRange(0, 100).Draw(t, "twice") == 0 {
				known[name] = true
				b.WriteString(item)
			}
		}
	}
	return b.String()
}

// fromFile makes a bootstrap get its clusters from a file, in which it is looked for under its last name.
const fromFile = "dynamic_resources: {cds_config: {path_config_source: {path: /etc/envoy/cds.yaml}}}\n"

// pushed is that file.
const pushed = `resources:
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: shop, connect_timeout: 1s, type: STATIC}
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: cart, connect_timeout: 0s, type: EDS,
   eds_cluster_config: {eds_config: {path_config_source: {path: /etc/envoy/eds.yaml}}}}
`

// running is how the bootstrap runs.
const running = `apiVersion: apps/v1
kind: Deployment
metadata: {name: edge}
spec:
  template:
    metadata: {labels: {app: shop}}
    spec:
      terminationGracePeriodSeconds: 30
      containers:
      - name: envoy
        image: envoyproxy/envoy:v1.39.0
        args: [--concurrency, "4"]
        command: [envoy, -c, /etc/envoy/envoy.yaml]
        resources: {limits: {cpu: 2, memory: 1Gi}}
        ports: [{name: http, containerPort: 10000}]
        readinessProbe: {httpGet: {path: /ready, port: 9901}}
        lifecycle: {preStop: {exec: {command: [sleep, "45"]}}}
---
apiVersion: v1
kind: Service
metadata: {name: shop}
spec:
  selector: {app: shop}
  ports:
  - {port: 80, targetPort: http}
  - {port: 8080}
`

// others are the files next to the one that is edited.
func (p *parts) others(t *rapid.T) map[string]string {
	all := map[string]string{}
	switch rapid.IntRange(0, 9).Draw(t, "others") {
	case 0:
		all["more.yaml"] = p.draw(t)
	case 1:
		all["cds.yaml"] = pushed
	case 2:
		all["cds.yaml"], all["broken.yaml"] = pushed, "static_resources: [\n"
	case 3, 4:
		all["deployment.yaml"] = running
	}
	return all
}

// edit changes a text as a person or a program may.
func (p *parts) edit(t *rapid.T, text string) string {
	if text == "" {
		return p.draw(t)
	}
	lines := slices.Collect(strings.Lines(text))
	at := func() int { return rapid.IntRange(0, len(lines)-1).Draw(t, "line") }
	i := at()
	item, end := itemAround(lines, i)
	switch rapid.IntRange(0, 15).Draw(t, "edit") {
	case 0: // breaks it, as often as not
		k := rapid.IntRange(0, len(text)-1).Draw(t, "byte")
		return text[:k] + rapid.SampledFrom([]string{"x", " ", "\n", "\"", "{", ":", "#", "&a ", "- ", "|", "é"}).Draw(t, "inserted") + text[k:]
	case 1:
		k := rapid.IntRange(0, len(text)-1).Draw(t, "byte")
		return text[:k] + text[k+1:]
	case 2:
		lines = slices.Delete(lines, i, i+1)
	case 3:
		lines = slices.Insert(lines, i, lines[at()])
	case 4:
		comment := rapid.SampledFrom([]string{"# a comment\n", "\n", "    # indented\n", "# {{ a template }}\n"}).Draw(t, "comment")
		lines = slices.Insert(lines, i, comment)
	case 5:
		rule := rapid.SampledFrom(rules.All()).Draw(t, "rule").ID()
		lines = slices.Insert(lines, i, "# xdslint:ignore="+rapid.SampledFrom([]string{rule, "*", "cluster", "no/rule"}).Draw(t, "ignored")+" -- a test\n")
	case 6:
		lines[i] = strings.TrimSuffix(lines[i], "\n") + " # xdslint:ignore=* -- a test\n"
	case 7: // an item twice
		lines = slices.Insert(lines, item, slices.Clone(lines[item:end])...)
	case 8: // elsewhere
		moved := slices.Clone(lines[item:end])
		lines = slices.Delete(lines, item, end)
		to, _ := itemAround(lines, rapid.IntRange(0, len(lines)).Draw(t, "elsewhere"))
		lines = slices.Insert(lines, to, moved...)
	case 9:
		lines = slices.Delete(lines, item, end)
	case 10:
		lines = slices.Insert(lines, item, rapid.SampledFrom(p.items[rapid.SampledFrom(lists).Draw(t, "list")]).Draw(t, "new"))
	case 11: // another name, or another reference
		names := strings.NewReplacer("shop", "cart", "cart", "shop", "10.0.0.1", "10.0.0.2", "example", "sample")
		lines[i] = names.Replace(lines[i])
	case 12:
		return strings.TrimSuffix(text, "\n")
	case 13: // the rest of the bootstrap
		lines = slices.Insert(lines, 0, rapid.SampledFrom(p.rests).Draw(t, "rest"))
	default: // a number
		for k, line := range lines[i:] {
			if j := strings.IndexAny(line, "123456789"); j >= 0 {
				lines[i+k] = line[:j] + rapid.StringMatching("[1-9]{1,2}").Draw(t, "number") + line[j+1:]
				break
			}
		}
	}
	return strings.Join(lines, "")
}

// itemAround returns the lines of the item that a line is in.
func itemAround(lines []string, i int) (start, end int) {
	begins := func(line string) bool { return strings.HasPrefix(line, "  - ") }
	for start = min(i, len(lines)); start > 0 && (start == len(lines) || !begins(lines[start])); {
		start--
	}
	for end = min(start+1, len(lines)); end < len(lines) && !begins(lines[end]) && strings.HasPrefix(lines[end], "    "); {
		end++
	}
	return start, end
}

// TestSession: what a session finds in a text that is edited is what a linter finds that has never seen it, to the byte.
func TestSession(t *testing.T) {
	p := partsOf(t)
	linters := []*xdslint.Linter{
		linter(t, "", xdslint.Options{}),
		linter(t, "targets: [envoy:1.37, envoy:1.40]", xdslint.Options{}),
		linter(t, "profile: edge", xdslint.Options{}),
		linter(t, "ignores: [{rule: cluster, resource: 'cluster/a*', reason: a test}]\nassume: ['cluster:shop*']", xdslint.Options{}),
	}
	reused, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		session, l := &xdslint.Session{}, rapid.SampledFrom(linters).Draw(t, "linter")
		text, undo, others := p.draw(t), []string{}, p.others(t)
		var before *xdslint.Report
		for range rapid.IntRange(2, 10).Draw(t, "runs") {
			in := func() xdslint.Input {
				all := map[string][]byte{"envoy.yaml": []byte(text)}
				for name, text := range others {
					all[name] = []byte(text)
				}
				return xdslint.Texts(all)
			}
			got, err := session.Lint(t.Context(), l, in())
			if err != nil {
				t.Fatal(err)
			}
			want, err := l.Lint(t.Context(), in())
			if err != nil {
				t.Fatal(err)
			}
			if a, b := written(t, got), written(t, want); a != b {
				t.Fatalf("%s\nafter\n%s\nof\n%s", cmp.Diff(b, a), last(undo), text)
			}
			all++
			if before != nil && slices.ContainsFunc(got.Snapshots, func(s *graph.Snapshot) bool { return s.Since(before.Snapshots[0]) != nil }) {
				reused++
			}
			before, undo = got, append(undo, text)
			if rapid.IntRange(0, 5).Draw(t, "undo") == 0 {
				text = rapid.SampledFrom(undo).Draw(t, "text")
			}
			for range rapid.IntRange(0, 2).Draw(t, "edits") {
				text = p.edit(t, text)
			}
			switch rapid.IntRange(0, 20).Draw(t, "elsewhere") {
			case 0:
				others = p.others(t)
			case 1, 2:
				for _, name := range slices.Sorted(maps.Keys(others)) {
					others[name] = p.edit(t, others[name])
				}
			}
			if rapid.IntRange(0, 10).Draw(t, "another linter") == 0 {
				l = rapid.SampledFrom(linters).Draw(t, "linter")
			}
		}
	})
	t.Logf("%d of %d snapshots were made from the one before", reused, all)
	if reused == 0 { // how many there are is up to chance
		t.Error("nothing was reused")
	}
}

// TestSessionForgets: a session keeps the latest text, and not those before.
func TestSessionForgets(t *testing.T) {
	text := clusters(1000)
	l, session := linter(t, "", xdslint.Options{}), &xdslint.Session{}
	edited := func(i int) {
		from := fmt.Sprintf("- name: service-%05d\n    type: STATIC\n    connect_timeout: 1s", i)
		to := strings.Replace(from, "1s", "0s", 1) // which is a finding
		if _, err := session.Lint(t.Context(), l, texts(strings.Replace(text, from, to, 1))); err != nil {
			t.Fatal(err)
		}
	}
	inUse := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // finishes what the first one began
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	for i := range 10 {
		edited(i)
	}
	before := inUse()
	for i := range 100 {
		edited(i)
	}
	if more := inUse() - before; more > 10*len(text) {
		t.Errorf("after 100 edits of %d bytes, %d more bytes are in use", len(text), more)
	}
	runtime.KeepAlive(session)
}

func last(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// written is all that a report says.
func written(t rapid.TB, r *xdslint.Report) string {
	var b bytes.Buffer
	for _, format := range []string{"json", "text", "sarif"} {
		if err := r.Write(&b, format); err != nil {
			t.Fatal(err)
		}
	}
	safe, unsafe, more := r.Fixable()
	fmt.Fprintln(&b, r.Suppressed, r.Baselined, safe, unsafe, more, r.Failures, r.Files)
	return b.String()
}
