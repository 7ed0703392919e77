package plugin_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/pluginabi"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
	"github.com/xdslint/xdslint/wasm/plugin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bootstrap is what the plugins judge; built-in rules have something to say about it.
const bootstrap = `static_resources:
  clusters:
  - name: shop-cart
    type: STATIC
    connect_timeout: 0s
    metadata: {filter_metadata: {acme: {tier: gold}}}
    load_assignment:
      cluster_name: shop-cart
      endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}}]}]
  - {name: shop-search, type: STATIC, connect_timeout: 1s}
`

func snapshots(t testing.TB, text string) []*graph.Snapshot {
	t.Helper()
	input, err := load.Paths(t.Context(), []string{"-"}, load.Options{StdinName: "envoy.yaml", Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	return input.Snapshots
}

func open(t testing.TB, module []byte, options plugin.Options) (*plugin.Plugin, error) {
	p, err := plugin.Open(t.Context(), &source.File{Name: "house/rules.wasm", Text: module}, options)
	if err == nil {
		t.Cleanup(func() {
			if err := p.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	return p, err
}

// short is what a call may take that does not end by itself.
const short = 2 * time.Second

// memory is what a plugin may have in these tests: the race detector follows every byte of it.
const memory = 32 << 20

// patience is how much later than its limit a call may end where the tests of all packages share two processors.
const patience = time.Minute

// limitOf returns the limit of calls that end as a test wants: no other limit is reached before one of size or memory.
func limitOf(want string) time.Duration {
	if strings.HasPrefix(want, "took longer") {
		return short
	}
	return patience
}

func lintWith(t *testing.T, p *plugin.Plugin) *lint.Result {
	t.Helper()
	result := lint.Run(t.Context(), snapshots(t, bootstrap), lint.Config{Rules: append(rules.Builtin(), p.Rules()...)})
	for _, failure := range result.Failures {
		t.Errorf("%v\n%s", failure, failure.Stack)
	}
	return result
}

func wasiFunction(name string, typeIndex byte) []function {
	return []function{{module: "wasi_snapshot_preview1", name: name, typeIndex: typeIndex}}
}

// TestHostile: each plugin ends within its limit and becomes one finding with these texts, and the findings of all other rules are complete.
func TestHostile(t *testing.T) {
	other := lint.Run(t.Context(), snapshots(t, bootstrap), lint.Config{Rules: rules.Builtin()})
	if len(other.Diagnostics) == 0 {
		t.Fatal("the other rules should find something")
	}
	text := func(s string) []byte { return []byte(s) }
	for _, c := range []struct {
		name  string
		guest guest
		want  string   // empty: the plugin can judge
		notes []string // of the finding
	}{
		{name: "loop", guest: guest{check: join(endless, zero64)}, want: "took longer than 2s"},
		{name: "loop in xdslint_alloc", guest: guest{alloc: join(endless, i32(0))}, want: "took longer than 2s"},
		{
			name: "memory", guest: guest{check: join(again(i32(1<<10), []byte{0x40, 0x00}, i32(-1), []byte{0x46, 0x04, 0x40, 0x00, 0x0b}), zero64)},
			want: "crashed: unreachable",
		},
		{name: "memory without a crash", guest: guest{check: join(again(i32(16), []byte{0x40, 0x00}, drop), zero64)}, want: "took longer than 2s"},
		{name: "wild pointer", guest: guest{check: i64(-(16 << 32) + 16)}, want: "returns an answer of 16 bytes at 0xfffffff0, but has only 3 MiB of memory"},
		{name: "wild length", guest: guest{check: packed(33<<16-8, 9)}, want: "returns an answer of 9 bytes at 0x20fff8, but has only 3 MiB of memory"},
		{name: "allocates nowhere", guest: guest{alloc: i32(-8)}, want: "allocates 413 bytes at 0xfffffff8, but has only 3 MiB of memory"},
		{name: "allocates nothing", guest: guest{alloc: i32(0)}, want: "allocates 413 bytes at 0x0, but has only 3 MiB of memory"},
		{name: "garbage", guest: guest{answer: text("\xff\xfe no message")}, want: "returns bytes that are not xdslint.plugin.v1.Findings, or a string that is not UTF-8"},
		{name: "garbage in UTF-8", guest: guest{answer: text("no message")}, want: "returns bytes that are not xdslint.plugin.v1.Findings"},
		{
			name: "invalid UTF-8", guest: guest{answer: protowire.AppendBytes([]byte{0x0a}, []byte("\x0a\x01\xff"))},
			want: "returns bytes that are not xdslint.plugin.v1.Findings, or a string that is not UTF-8",
		},
		{name: "crash", guest: guest{check: unreachable}, want: "crashed: unreachable"},
		{name: "division by zero", guest: guest{check: join(i64(1), zero64, []byte{0x7f})}, want: "crashed: integer divide by zero"},
		{name: "deep recursion", guest: guest{check: join(i32(0), i32(0), call(4))}, want: "crashed: stack overflow"},
		{name: "outside of its memory", guest: guest{check: join(i32(-1), []byte{0x29, 0x03, 0x00})}, want: "crashed: out of bounds memory access"},
		{name: "flood of bytes", guest: guest{check: packed(0, 1<<30)}, want: "returns an answer of 1024 MiB; the limit is 16 MiB"},
		{name: "flood of findings", guest: guest{answer: empties(1, 10_001)}, want: "has 10001 findings; the limit is 10000"},
		{name: "flood of empty findings", guest: guest{answer: empties(1, 8<<20-1)}, want: "returns more than 500000 fields"},
		{
			name: "flood of fixes", guest: guest{answer: protowire.AppendBytes([]byte{0x0a}, empties(8, 1_000_000))},
			want: "returns more than 500000 fields",
		},
		{
			name: "exit", guest: guest{imports: wasiFunction("proc_exit", oneI32), check: join(i32(3), call(0), zero64)},
			want: "exited with status 3",
		},
		{
			name: "exit as if all were well", guest: guest{imports: wasiFunction("proc_exit", oneI32), check: join(i32(0), call(0), zero64)},
			want: "exited with status 0",
		},
		{name: "sched_yield", guest: guest{imports: wasiFunction("sched_yield", toI32), check: join(again(call(0), drop), zero64)}, want: "took longer than 2s"},
		{
			// A subscription to a clock, for one hour: there is no clock, so it returns at once.
			name: "sleep", guest: guest{
				imports: wasiFunction("poll_oneoff", i32s4ToI32), data: binaryHour(),
				check: join(i32(dataAt), i32(dataAt+64), i32(1), i32(dataAt+128), call(0), drop, packed(answerAt, 0)),
			},
		},
		{
			name: "poll of more than there can be", guest: guest{
				imports: wasiFunction("poll_oneoff", i32s4ToI32), check: join(i32(0), i32(0), i32(1<<28), i32(8), call(0), drop, zero64),
			},
			want: "crashed: runtime error: index out of range [8] with length 0 (recovered by wazero)",
		},
		{
			name: "words before the crash", guest: guest{
				imports: wasiFunction("fd_write", i32s4ToI32), data: join(little(dataAt+8), little(40), text("panic: \x1b[31mno\x00 such team\n\ngoroutine 1:\n\xff\xff")),
				check: join(i32(2), i32(dataAt), i32(1), i32(dataAt+4096), call(0), unreachable),
			},
			want: "crashed: panic: [31mno such team", notes: []string{"goroutine 1:"},
		},
		{
			name: "endless words", guest: guest{
				imports: wasiFunction("fd_write", i32s4ToI32), data: join(little(dataAt+8), little(1<<20), text("tell me more\n")),
				check: join(again(i32(2), i32(dataAt), i32(1), i32(4096), call(0), drop), zero64),
			},
			want: "took longer than 2s", notes: []string{"tell me more"},
		},
		{
			name: "opens a file", guest: guest{ // file descriptor 3 is where a folder would be
				imports: wasiFunction("fd_write", i32s4ToI32), data: join(little(dataAt+8), little(1)),
				check: join(i32(3), i32(dataAt), i32(1), i32(4096), call(0), []byte{0x45, 0x04, 0x40, 0x00, 0x0b}, packed(answerAt, 0)),
			},
		},
		{ // table.grow by 2^30, for ever
			name: "table", guest: guest{
				table: vector([]byte{0x70, 0, 1}),
				check: join(again([]byte{0xd0, 0x70}, i32(1<<30), []byte{0xfc, 0x0f, 0x00}, drop, []byte{0xd0, 0x70}, i32(1000), []byte{0xfc, 0x0f, 0x00}, drop), zero64),
			},
			want: "took longer than 2s",
		},
		{
			name: "unknown rule", guest: guest{answer: found(func(f *pluginabi.Finding) { f.Rule = "acme/\x1b[2J" + strings.Repeat("x", 1<<20) })},
			want: `has a finding of rule "acme/\x1b[2J` + strings.Repeat("x", 71) + `" …, which is not in its description`,
		},
		{name: "no such resource", guest: guest{answer: found(func(f *pluginabi.Finding) { f.Resource = 1 << 31 })}, want: "has a finding of acme/one in resource 2147483648, but there are only 3"},
		{
			name: "no such field", guest: guest{answer: found(func(f *pluginabi.Finding) { f.Resource, f.Path = 1, "connect_timeout.minutes" })},
			want: `has a finding of acme/one at the invalid path "connect_timeout.minutes" in cluster "shop-cart": google.protobuf.Duration has no field "minutes"`,
		},
		{
			name: "no such element", guest: guest{answer: found(func(f *pluginabi.Finding) { f.Resource, f.Path = 1, "load_assignment.endpoints[1]" })},
			want: `has a finding of acme/one at the invalid path "load_assignment.endpoints[1]" in cluster "shop-cart": element 1 does not exist: there are 1`,
		},
		{
			name: "not a path", guest: guest{answer: found(func(f *pluginabi.Finding) { f.Resource, f.Path = 1, "name\n" })},
			want: `has a finding of acme/one at the invalid path "name\n" in cluster "shop-cart": a "." belongs before "\n"`,
		},
		{
			name: "a path of a megabyte", guest: guest{answer: found(func(f *pluginabi.Finding) { f.Resource, f.Path = 1, strings.Repeat("x", 1<<20) })},
			want: `has a finding of acme/one at the invalid path "` + strings.Repeat("x", 80) + `" … in cluster "shop-cart": a path of 1048576 bytes is too long`,
		},
		{name: "no such severity", guest: guest{answer: found(func(f *pluginabi.Finding) { f.Severity = 77 })}, want: "has a finding of acme/one with the unknown severity 77"},
		{
			name: "flood of notes", guest: guest{answer: found(func(f *pluginabi.Finding) { f.Notes = make([]string, 100_000) })},
			want: "has a finding of acme/one with 100000 notes or fixes; the limit is 20",
		},
		{name: "says nothing", guest: guest{answer: found(func(f *pluginabi.Finding) { f.Message = "\x00 \u202e\n" })}, want: "has a finding of acme/one without a message"},
		{
			name: "a fix that is not JSON", guest: guest{answer: found(func(f *pluginabi.Finding) { f.Resource, f.Fixes = 1, fixes("name", "x: y") })},
			want: `has a fix of acme/one that cannot change "name" in cluster "shop-cart": its new value is not JSON`,
		},
		{
			name: "a fix that is two", guest: guest{answer: found(func(f *pluginabi.Finding) { f.Resource, f.Fixes = 1, fixes("name", `"a" "b"`) })},
			want: `has a fix of acme/one that cannot change "name" in cluster "shop-cart": its new value is not JSON`,
		},
		{
			name: "a fix that is deep", guest: guest{answer: found(func(f *pluginabi.Finding) { f.Resource, f.Fixes = 1, fixes("name", strings.Repeat(`{"a":`, 1<<16)) })},
			want: `has a fix of acme/one that cannot change "name" in cluster "shop-cart": its new value is more than 50 maps deep`,
		},
		{
			name: "a fix of the whole", guest: guest{answer: found(func(f *pluginabi.Finding) { f.Resource, f.Fixes = 1, fixes("", `"a"`) })},
			want: `has a fix of acme/one that cannot change "" in cluster "shop-cart": is the whole resource`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			limit := limitOf(c.want)
			p, err := open(t, c.guest.module(), plugin.Options{Time: limit, Memory: memory})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			result := lintWith(t, p)
			if took := time.Since(began); took > limit+patience {
				t.Errorf("it took %s", took)
			}
			want := reported(other.Diagnostics)
			if c.want != "" {
				want = append(want, strings.Join(append([]string{"house/rules.wasm error[house/cannot-judge]: plugin rules.wasm " + c.want}, c.notes...), "\n"))
			}
			if diff := cmp.Diff(want, reported(result.Diagnostics)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestThousandsOfEdits: to remove a list of thousands means to look at thousands, and that thousands of times.
func TestThousandsOfEdits(t *testing.T) {
	var text strings.Builder
	text.WriteString("static_resources:\n  clusters:\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "  - {name: shop-%d, type: STATIC, metadata: {filter_metadata: {acme: {tier: [gold, silver, bronze]}}}}\n", i)
	}
	all := fixes("static_resources", "{}")
	all[0].Edits = slices.Repeat([]*pluginabi.Edit{{Path: "static_resources", Change: &pluginabi.Edit_Remove{Remove: true}}}, 100_000)
	p, err := open(t, guest{answer: found(func(f *pluginabi.Finding) { f.Fixes = all })}.module(), plugin.Options{Time: short})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	result := lint.Run(t.Context(), snapshots(t, text.String()), lint.Config{Rules: p.Rules()})
	if took := time.Since(began); took > 2*short+patience {
		t.Errorf("it took %s", took)
	}
	want := []string{"house/rules.wasm error[house/cannot-judge]: plugin rules.wasm returns more findings and fixes than can be located in 2s"}
	if diff := cmp.Diff(want, reported(result.Diagnostics)); diff != "" {
		t.Error(diff)
	}
}

func binaryHour() []byte {
	subscription := make([]byte, 48)
	copy(subscription[24:], join(little(0x3d5d_0000), little(0x0000_0346))) // about an hour in nanoseconds
	return subscription
}

func little(n uint32) []byte { return []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)} }

func fixes(path, value string) []*pluginabi.Fix {
	return []*pluginabi.Fix{{Message: "fix it", Edits: []*pluginabi.Edit{{Path: path, Change: &pluginabi.Edit_Set{Set: value}}}}}
}

// reported is what there is to compare of findings.
func reported(all []lint.Diagnostic) (lines []string) {
	for _, d := range all {
		lines = append(lines, strings.Join(append([]string{fmt.Sprintf("%s %s[%s]: %s", d.Resource.File.Name, d.Severity, d.Rule.ID(), d.Message)}, d.Notes...), "\n"))
	}
	return lines
}

// TestOpenRejects: a module that is not a plugin, or is over a limit, is an error, and does not take long.
func TestOpenRejects(t *testing.T) {
	describing := func(d *pluginabi.Description) guest { return guest{description: marshal(d)} }
	rule := func(r *pluginabi.Rule) guest { return describing(&pluginabi.Description{Rules: []*pluginabi.Rule{r}}) }
	section := func(id byte, content ...[]byte) guest {
		return guest{more: func(sections map[byte][]byte) { sections[id] = join(content...) }}
	}
	imported := func(module, name string, kind byte) guest { return guest{imports: []function{{module, name, kind, 0}}} }
	const many = 1 << 31
	for _, c := range []struct {
		name   string
		guest  guest
		module []byte // in place of the guest's
		want   string
	}{
		{name: "nothing", module: []byte{}, want: "is not a WebAssembly module"},
		{name: "a text", module: []byte("rules: []"), want: "is not a WebAssembly module"},
		{name: "only a header", module: guest{}.module()[:8], want: "has no export memory"},
		{name: "truncated", module: guest{}.module()[:100], want: "is a broken WebAssembly module"},
		{name: "too large", module: make([]byte, plugin.MaxModule+1), want: "is larger than 64 MiB"},
		{name: "a component", module: []byte("\x00asm\x0d\x00\x01\x00"), want: "is not a WebAssembly module"},
		{name: "no memory", guest: guest{without: "memory"}, want: "has no export memory"},
		{name: "no check", guest: guest{without: "xdslint_check"}, want: "has no export xdslint_check"},
		{name: "another check", guest: section(3, vector([]byte{toI32}, []byte{i32ToI32}, []byte{twoI32}, []byte{toI64}, []byte{toI64}, []byte{nothing})), want: "exports xdslint_check with other parameters or results than xdslint_check(i32, i32) -> i64"},
		{name: "version 2", guest: guest{version: 2}, want: "uses version 2 of the interface, but this xdslint uses version 1"},
		{name: "import", guest: imported("env", "foo", 0), want: `wants to import "env"."foo": plugins can only import WASI (wasi_snapshot_preview1)`},
		{name: "import with a terminal in it", guest: imported("env\x1b[2J", "f\nf", 0), want: `wants to import "env\x1b[2J"."f\nf": plugins can only import WASI (wasi_snapshot_preview1)`},
		{name: "imported memory", guest: imported("wasi_snapshot_preview1", "memory", 2), want: `wants to import "wasi_snapshot_preview1"."memory", which is not a function`},
		{name: "unknown WASI", guest: imported("wasi_snapshot_preview1", "fork", 0), want: `wants to import "wasi_snapshot_preview1"."fork", which WASI does not have`},
		{name: "thousands of imports", guest: section(2, unsigned(many)), want: "has 2147483648 imports; the limit is 1000"},
		{name: "thousands of exports", guest: section(7, unsigned(many)), want: "has 2147483648 exports; the limit is 100000"},
		{name: "more exports than there are", guest: section(7, unsigned(99_999)), want: "is a broken WebAssembly module"},
		{name: "thousands of globals", guest: section(6, unsigned(many)), want: "has 2147483648 globals; the limit is 100000"},
		{name: "thousands of functions", guest: section(3, unsigned(many)), want: "has 2147483648 functions; the limit is 200000"},
		{name: "thousands of bodies", guest: section(10, unsigned(many)), want: "has 2147483648 functions; the limit is 200000"},
		{name: "thousands of types", guest: section(1, unsigned(many)), want: "has 2147483648 types; the limit is 100000"},
		{name: "thousands of parameters", guest: section(1, vector(join([]byte{0x60}, unsigned(many)))), want: "has 2147483648 parameters in one function; the limit is 1000"},
		{name: "thousands of locals", guest: guest{locals: vector(join(unsigned(many), []byte{0x7f}))}, want: "has a function with 2147483648 locals; the limit is 10000"},
		{
			name: "thousands of locals in thousands of functions", guest: section(10, vector(slicesOf(101, sized(join(vector(join(unsigned(10_000), []byte{0x7f})), []byte{0x0b})))...)),
			want: "has more than 1000000 locals in its functions",
		},
		{name: "a giant function", guest: guest{check: join(bytes.Repeat([]byte{0x01}, 5<<20), zero64)}, want: "has a function of 6 MiB; the limit is 1 MiB"},
		{name: "a giant memory", guest: guest{pages: 65536}, want: "wants 4096 MiB of memory at the start; the limit is 256 MiB"},
		{name: "memory of 64 bits", guest: section(5, vector([]byte{4, 1})), want: "has a memory that is shared or has 64-bit addresses"},
		{name: "a giant table", guest: guest{table: vector(join([]byte{0x70, 0}, unsigned(1<<27)))}, want: "has a table of 134217728 elements; the limit is 262144"},
		{name: "many tables", guest: guest{table: vector(slicesOf(5, []byte{0x70, 0, 0})...)}, want: "has 5 tables; the limit is 4"},
		{
			name: "giant elements", guest: guest{table: vector([]byte{0x70, 0, 0}), more: func(s map[byte][]byte) { s[9] = vector(join([]byte{1, 0}, unsigned(many))) }},
			want: "has 2147483648 elements; the limit is 262144",
		},
		{name: "giant data", guest: section(11, vector(join([]byte{1}, unsigned(many)))), want: "is a broken WebAssembly module"},
		{name: "data outside of its memory", guest: guest{pages: 1, answer: make([]byte, 1)}, want: "cannot start: data[1]: out of bounds memory access"},
		{name: "tags", guest: section(12, []byte{0}), module: append(guest{}.module(), 13, 1, 0), want: "has a section 13, which xdslint does not know"},
		{name: "no code", guest: section(10, unsigned(0)), want: "does not compile: function and code section have inconsistent lengths: 6 != 0"},
		{name: "bad code", guest: guest{check: i32(0)}, want: `does not compile: invalid function[4] export["xdslint_check"]: cannot use i32 as result[0] type i64`},
		{name: "a loop at the start", guest: guest{start: endless, startAtOnce: true}, want: "took longer than 2s"},
		{name: "a loop in _initialize", guest: guest{start: endless}, want: "took longer than 2s"},
		{name: "a crash in _initialize", guest: guest{start: unreachable}, want: "crashed: unreachable"},
		{name: "a crash in describe", guest: guest{describe: unreachable}, want: "crashed: unreachable"},
		{
			name: "a program", guest: guest{describe: unreachable, more: func(s map[byte][]byte) { s[7] = bytes.ReplaceAll(s[7], name("_initialize"), name("_start")) }},
			want: "crashed: unreachable; it is built as a program: a plugin is a library (a WASI reactor; in Go, -buildmode=c-shared)",
		},
		{name: "a wild description", guest: guest{describe: i64(-1)}, want: "returns an answer of 4096 MiB; the limit is 16 MiB"},
		{name: "no description", guest: guest{describe: zero64}, want: "has no rules"},
		{name: "garbage", guest: guest{description: []byte("garbage")}, want: "describes itself with bytes that are not xdslint.plugin.v1.Description"},
		{name: "a million rules", guest: guest{description: empties(1, 1_000_000)}, want: "describes itself with more than 500000 fields"},
		{name: "thousands of rules", guest: guest{description: empties(1, 1001)}, want: "has 1001 rules; the limit is 1000"},
		{name: "no id", guest: rule(&pluginabi.Rule{Summary: "s"}), want: `has a rule "": an id is GROUP/NAME in lower-case letters, digits and hyphens, such as acme/cluster-name`},
		{name: "no group", guest: rule(&pluginabi.Rule{Id: "name", Summary: "s"}), want: `has a rule "name": an id is GROUP/NAME in lower-case letters, digits and hyphens, such as acme/cluster-name`},
		{name: "a terminal in the id", guest: rule(&pluginabi.Rule{Id: "acme/\x1b[2J", Summary: "s"}), want: `has a rule "acme/\x1b[2J": an id is GROUP/NAME in lower-case letters, digits and hyphens, such as acme/cluster-name`},
		{name: "no summary", guest: rule(&pluginabi.Rule{Id: "acme/a", Summary: " \n\x00"}), want: "has a rule acme/a without a summary"},
		{name: "no such severity", guest: rule(&pluginabi.Rule{Id: "acme/a", Summary: "s", Severity: 4}), want: "has a rule acme/a with the unknown severity 4"},
		{name: "a rule twice", guest: describing(&pluginabi.Description{Rules: []*pluginabi.Rule{{Id: "acme/a", Summary: "s"}, {Id: "acme/a", Summary: "s"}}}), want: "has two rules acme/a"},
		{
			name: "an unknown type", guest: describing(&pluginabi.Description{Rules: []*pluginabi.Rule{{Id: "acme/a", Summary: "s"}}, Types: []string{"envoy.config.cluster.v3.Clustre"}}),
			want: `wants to read messages of type "envoy.config.cluster.v3.Clustre", which xdslint does not know (did you mean envoy.config.cluster.v3.Cluster?)`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			module := c.module
			if module == nil {
				module = c.guest.module()
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			limit := limitOf(c.want)
			_, err := open(t, module, plugin.Options{Time: limit})
			if took := time.Since(began); took > limit+patience {
				t.Errorf("it took %s", took)
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > plugin.MaxMemory {
				t.Errorf("it took %d MiB", used>>20)
			}
			if err == nil || err.Error() != "house/rules.wasm: "+c.want {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func slicesOf(n int, b []byte) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = b
	}
	return all
}
