package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
	_ "github.com/xdslint/xdslint/internal/decode/linked"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/lint"
)

var group = &lint.Group{Name: "test", Summary: "rules of this test"}

var rule = group.Add(&lint.Rule{
	Name: "rule", Severity: lint.Error, Summary: "it is wrong", Why: "Because of `this`.\n",
	Run: lint.ForSnapshot(func(*lint.Pass) {}),
})

// sample has all that a finding can have: text and none, a related place, fixes, odd characters.
func sample() *lint.Result {
	text := "a: 1\n😀: \"x\"  # wide\n\tb: [long,\n  list]\n"
	file := &source.File{Name: "dir/a b.yaml", Text: []byte(text)}
	binary := &source.File{Name: "live.pb"}
	r := &graph.Resource{Kind: graph.Cluster, Name: "one", File: file}
	live := &graph.Resource{Kind: graph.Listener, Name: "two", File: binary}
	at := func(s string) source.Span {
		i := strings.Index(text, s)
		return source.Span{Start: i, End: i + len(s)}
	}
	path := (*tree.Path)(nil).Field("x").Item("y", 2)
	return &lint.Result{
		Snapshots: []*graph.Snapshot{{Resources: []*graph.Resource{r, live}}},
		Failures:  []*lint.Failure{{Rule: rule, Panic: "oops"}},
		Diagnostics: []lint.Diagnostic{
			{
				Rule: rule, Severity: lint.Error, Message: `"x" & <y> are wrong`, Notes: []string{"Envoy minds", "two\nlines"},
				Help: "write z", Upstream: "bad 100%", Resource: r, Path: path, Span: at(`"x"`),
				Related: []lint.Related{{Message: "it was a here", Resource: r, Span: at("a: 1")}, {Message: "and there", Resource: live, Path: path}},
				Fixes:   []lint.Fix{{Message: "say z", Safe: true, Edits: []lint.Edit{{Span: at(`"x"`), New: "z"}}}},
			},
			{Rule: rule, Severity: lint.Warning, Message: "several lines", Resource: r, Path: path, Span: at("[long,\n  list]")},
			{Rule: rule, Severity: lint.Info, Message: "no text", Resource: live, Path: path},
			{Rule: rule, Severity: lint.Info, Message: "a whole file", Resource: &graph.Resource{Kind: graph.File, Name: "live.pb", File: binary}},
		},
	}
}

func write(t *testing.T, format string, r *Report) string {
	t.Helper()
	f, ok := Find(format)
	if !ok {
		t.Fatalf("no format %s", format)
	}
	var b bytes.Buffer
	if err := f.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	const want = `error[test/rule]: "x" & <y> are wrong
 --> dir/a b.yaml:2:4
  |
2 | 😀: "x"  # wide
  |     ^^^
  = in: cluster "one" › x.y[2]
  = Envoy minds
  = two
    lines
  = Envoy says: bad 100%
note: it was a here
 --> dir/a b.yaml:1:1
  |
1 | a: 1
  | ^^^^
note: and there
 --> live.pb
  = in: listener "two" › x.y[2]
help: write z

warning[test/rule]: several lines
 --> dir/a b.yaml:3:5
  |
3 |     b: [long,
  |        ^^^^^^
  = in: cluster "one" › x.y[2]

info[test/rule]: no text
 --> live.pb
  = in: listener "two" › x.y[2]

info[test/rule]: a whole file
 --> live.pb

1 error, 1 warning, 2 infos in 2 files
`
	if got := write(t, "text", &Report{Result: sample(), Files: Files{Read: 2}}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestColor(t *testing.T) {
	plain := write(t, "text", &Report{Result: sample()})
	colored := write(t, "text", &Report{Result: sample(), Color: true})
	if strings.Contains(plain, "\x1b") || !strings.Contains(colored, "\x1b[31;1merror[test/rule]") {
		t.Errorf("plain %q, colored %q", plain[:40], colored[:40])
	}
	var bare strings.Builder
	for i, part := range strings.Split(colored, "\x1b[") {
		if i > 0 {
			_, part, _ = strings.Cut(part, "m")
		}
		bare.WriteString(part)
	}
	if bare.String() != plain {
		t.Errorf("colours change more than colours:\n%s", bare.String())
	}
}

func TestSARIFSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*Report{
		"sample": {Result: sample(), Rules: []*lint.Rule{rule}, Version: "v1.2.3"},
		"empty":  {Result: &lint.Result{}},
	} {
		log, err := jsonschema.UnmarshalJSON(strings.NewReader(write(t, "sarif", r)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(log); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSARIF(t *testing.T) {
	var log sarifLog
	if err := json.Unmarshal([]byte(write(t, "sarif", &Report{Result: sample()})), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	first := run.Results[0]
	// The emoji before it takes two UTF-16 code units.
	if want := (sarifRegion{StartLine: 2, StartColumn: 5, EndLine: 2, EndColumn: 8}); *first.Locations[0].Physical.Region != want {
		t.Errorf("region %+v, want %+v", *first.Locations[0].Physical.Region, want)
	}
	if got := first.Locations[0].Physical.Artifact.URI; got != "dir/a%20b.yaml" {
		t.Errorf("URI %s", got)
	}
	if fix := first.Fixes[0].Changes[0].Replacements[0]; fix.Inserted.Text != "z" || fix.Deleted.StartColumn != 5 {
		t.Errorf("fix %+v", fix)
	}
	if run.Invocations[0].ExecutionSuccessful || len(run.Invocations[0].Notifications) != 1 {
		t.Errorf("a rule failed: %+v", run.Invocations[0])
	}
	if got := run.Tool.Driver.Rules[first.RuleIndex]; got.ID != "test/rule" || got.Help.Markdown != "Because of `this`." {
		t.Errorf("rule %+v", got)
	}
	var prints []string
	for _, r := range run.Results {
		prints = append(prints, r.Fingerprints["xdslint/v1"])
	}
	slices.Sort(prints)
	if len(slices.Compact(prints)) != len(run.Results) {
		t.Errorf("fingerprints are not unique: %v", prints)
	}
}

func TestFingerprintsStay(t *testing.T) {
	moved := sample()
	f := moved.Diagnostics[0].Resource.File
	shifted := &source.File{Name: f.Name, Text: append([]byte("# a line\n"), f.Text...)}
	moved.Diagnostics[0].Resource.File = shifted
	moved.Diagnostics[0].Span = source.Span{Start: 20, End: 21}
	var before, after sarifLog
	for _, x := range []struct {
		result *lint.Result
		into   *sarifLog
	}{{sample(), &before}, {moved, &after}} {
		if err := json.Unmarshal([]byte(write(t, "sarif", &Report{Result: x.result})), x.into); err != nil {
			t.Fatal(err)
		}
	}
	if b, a := before.Runs[0].Results[0], after.Runs[0].Results[0]; b.Fingerprints["xdslint/v1"] != a.Fingerprints["xdslint/v1"] {
		t.Error("a fingerprint changed with the line")
	}
}

func TestXML(t *testing.T) {
	for _, format := range []string{"junit", "checkstyle"} {
		text := write(t, format, &Report{Result: sample(), FailOn: lint.Warning})
		if err := xml.Unmarshal([]byte(text), new(struct{ XMLName xml.Name })); err != nil {
			t.Errorf("%s: %v\n%s", format, err, text)
		}
		if format == "junit" && strings.Count(text, "<failure") != 2 {
			t.Errorf("an error and a warning fail:\n%s", text)
		}
	}
}

func TestGitHub(t *testing.T) {
	text := write(t, "github", &Report{Result: sample()})
	lines := strings.Split(strings.TrimSpace(text), "\n")
	want := `::error file=dir/a b.yaml,line=2,col=4,endLine=2,endColumn=7,title=test/rule::"x" & <y> are wrong%0AEnvoy minds%0Atwo%0Alines%0AEnvoy says: bad 100%25%0Ahelp: write z%0Ain: cluster "one" › x.y[2]`
	if len(lines) != 4 || lines[0] != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if !strings.HasPrefix(lines[2], "::notice file=live.pb,title=") {
		t.Errorf("without a text there is no line: %s", lines[2])
	}
}

func TestSnippet(t *testing.T) {
	wide := strings.Repeat("a", 300)
	for _, c := range []struct {
		line          string
		from, to      int
		shown         string
		before, width int
	}{
		{"key: value", 5, 10, "key: value", 5, 5},
		{"key: value", 5, 400, "key: value", 5, 5},
		{"key:", 4, 4, "key:", 4, 1},
		{"\tk: v", 4, 5, "    k: v", 7, 1},
		{"键: v", 5, 6, "键: v", 4, 1},
		{"a\x1b[31m\xff: v", 9, 10, "a\uFFFD[31m\uFFFD: v", 9, 1},
		{"\u202Eevil", 3, 7, "\uFFFDevil", 1, 4},
		{"e\u0301: v", 5, 6, "e\u0301: v", 3, 1},
		{wide, 0, 3, wide[:120] + " …", 0, 3},
		{wide, 0, 300, wide[:120] + " …", 0, 120},
		{wide, 299, 300, "… " + wide[:120], 121, 1},
		{wide, 150, 152, "… " + wide[:120] + " …", 42, 2},
	} {
		shown, before, width := new(snippets).of([]byte(c.line), c.from, c.to)
		if shown != c.shown || before != c.before || width != c.width {
			t.Errorf("%q [%d,%d): %q %d %d, want %q %d %d", c.line, c.from, c.to, shown, before, width, c.shown, c.before, c.width)
		}
	}
}

func TestPrivateKeyBlock(t *testing.T) {
	text := "a: 1\nkey: |\n  -----BEGIN PRIVATE KEY-----\n  abc\n  -----END PRIVATE KEY-----\nb: 2\n"
	f := &source.File{Name: "x.yaml", Text: []byte(text)}
	s := secretsIn(&lint.Result{})
	for n, want := range []bool{false, false, true, true, true, false} {
		line, start := f.Line(n + 1)
		if s.Of(f).Hides(line, start) != want {
			t.Errorf("line %d: hidden %v", n+1, !want)
		}
	}
}

func TestFormatsAreDescribed(t *testing.T) {
	docs, err := os.ReadFile("../../docs/stability.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formats {
		if f.Summary == "" || !strings.Contains(string(docs), "`"+f.Name+"`") {
			t.Errorf("docs/stability.md does not tell how stable %s is", f.Name)
		}
	}
}

// A live resource has no lines, but messages can quote its values.
func TestRedact(t *testing.T) {
	secret := &tlsv3.Secret{Name: "s", Type: &tlsv3.Secret_TlsCertificate{TlsCertificate: &tlsv3.TlsCertificate{
		Password:   &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: "hunter2"}},
		PrivateKey: &corev3.DataSource{Specifier: &corev3.DataSource_Filename{Filename: "/etc/key.pem"}},
	}}}
	r := &graph.Resource{Kind: graph.Secret, Name: "s", Message: secret, File: &source.File{Name: "live.pb"}}
	found := lint.Diagnostic{
		Rule: rule, Severity: lint.Error, Resource: r, Message: `"hunter2" is short`, Notes: []string{"hunter2!"}, Help: "not hunter2",
		Upstream: "hunter2: /etc/key.pem", Fixes: []lint.Fix{{Message: "x", Edits: []lint.Edit{{New: "hunter2"}}}},
		Related: []lint.Related{{Message: "hunter2 again", Resource: r}},
	}
	result := &lint.Result{Diagnostics: []lint.Diagnostic{found}, Snapshots: []*graph.Snapshot{{Resources: []*graph.Resource{r}}}}
	for _, f := range Formats {
		text := write(t, f.Name, &Report{Result: result, FailOn: lint.Error})
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s shows a secret:\n%s", f.Name, text)
		}
		if !strings.Contains(text, "[secret]") {
			t.Errorf("%s:\n%s", f.Name, text)
		}
	}
	if got := Redacted(result)[0].Upstream; got != "[secret]: /etc/key.pem" {
		t.Errorf("the name of a file is no secret: %s", got)
	}
	if found.Message != `"hunter2" is short` || len(result.Diagnostics[0].Fixes) != 1 {
		t.Error("the result itself was changed")
	}
}
