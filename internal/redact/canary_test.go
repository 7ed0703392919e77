package redact_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	_ "github.com/xdslint/xdslint/internal/decode/linked"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// canary is how all secrets in testdata/secrets begin, as a text and in base64.
var canary = regexp.MustCompile(`.{0,60}(?:S3CRET|UzNDUkVU).{0,30}`)

func noCanary(t *testing.T, what string, text []byte) {
	t.Helper()
	for _, m := range canary.FindAll(text, 5) {
		t.Errorf("%s shows %q", what, m)
	}
}

// eachConfiguration runs a test over each file with secrets.
func eachConfiguration(t *testing.T, test func(t *testing.T, name string, text []byte, snapshots []*graph.Snapshot)) {
	paths, err := filepath.Glob("../../testdata/secrets/*")
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil || !canary.Match(text) {
				t.Fatal("there is no secret in it", err)
			}
			input, err := load.Paths(t.Context(), []string{path}, load.Options{})
			if err != nil {
				t.Fatal(err)
			}
			test(t, path, text, input.Snapshots)
		})
	}
}

func TestTextHidesAll(t *testing.T) {
	eachConfiguration(t, func(t *testing.T, name string, text []byte, _ []*graph.Snapshot) {
		clean, found := redact.Text(name, text, types.Envoy)
		noCanary(t, "Text", clean)
		if len(found) == 0 {
			t.Error("nothing is said to be found")
		}
	})
}

func TestMessagesHideAll(t *testing.T) {
	held, asJSON := 0, 0
	eachConfiguration(t, func(t *testing.T, _ string, _ []byte, snapshots []*graph.Snapshot) {
		for _, s := range snapshots {
			for _, r := range s.Resources {
				if r.Object.Secret() { // nothing of it is passed on, whatever it is
					continue
				}
				r.Walk(func(at *graph.Place) {
					raw, err := proto.MarshalOptions{AllowPartial: true}.Marshal(redact.Place(at, r.Contents))
					if err != nil {
						t.Error(err)
					}
					noCanary(t, fmt.Sprintf("%s of %s %s: a copy of %s", at.Path, r.Kind, r.Name, at.Message.Descriptor().FullName()), raw)
					if before, _ := proto.Marshal(at.Message.Interface()); canary.Match(before) {
						held++
					}
				})
				if r.Message == nil || r.Kind == graph.Patch { // what a patch writes is a part of something else
					continue
				}
				if raw, err := proto.Marshal(redact.Message(r.Message, r.Contents)); err != nil {
					t.Error(err)
				} else {
					noCanary(t, "a copy of the whole", raw)
				}
				if text, err := protojson.Marshal(r.Message); err == nil {
					noCanary(t, "JSON", ofJSON(t, text, r.Message.ProtoReflect().Descriptor().FullName()))
					asJSON++
				}
			}
		}
	})
	if held < 150 || asJSON < 10 {
		t.Errorf("only %d messages held a secret, and %d resources were JSON", held, asJSON)
	}
}

func ofJSON(t *testing.T, text []byte, name protoreflect.FullName) []byte {
	docs, err := syntax.ParseJSON(&source.File{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return redact.JSON(text, docs[0], name, types.Envoy)
}

// teller is a rule that quotes each value in every part of a finding, at the place of the value.
var teller = &lint.Group{Name: "teller", Summary: "tells all"}

func init() {
	teller.Add(&lint.Rule{Name: "all", Severity: lint.Error, Summary: "tells all", Run: lint.ForSnapshot(func(p *lint.Pass) {
		for _, r := range p.Snapshot.All() {
			r.Walk(func(at *graph.Place) {
				if r.Object.Secret() {
					return
				}
				at.Message.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
					if text := v.String(); fd.Kind() == protoreflect.StringKind && !fd.IsList() && !fd.IsMap() {
						place := at.At().Field(string(fd.Name()))
						p.Report(place, lint.Diagnostic{
							Message: "it is " + text, Help: "not " + text, Notes: []string{text}, Upstream: text,
							Fixes: []lint.Fix{{Message: "write " + text, Edits: []lint.Edit{{New: text}}}}, Related: []lint.Related{lint.RelatedTo(place, "also "+text)},
						})
					}
					return true
				})
			})
		}
	})})
}

// TestReportsHideAll: a report in any format never shows a secret, whatever the rules say.
func TestReportsHideAll(t *testing.T) {
	found := 0
	eachConfiguration(t, func(t *testing.T, _ string, _ []byte, snapshots []*graph.Snapshot) {
		for _, all := range [][]*lint.Rule{rules.Builtin(), teller.Rules()} {
			result := lint.Run(t.Context(), snapshots, lint.Config{Rules: all, Target: dataplane.Default()})
			found += len(result.Diagnostics)
			for _, format := range report.Formats {
				var out bytes.Buffer
				if err := format.Write(&out, &report.Report{Result: result, FailOn: lint.Error}); err != nil {
					t.Fatal(err)
				}
				noCanary(t, format.Name, out.Bytes())
			}
		}
		hides := report.Hides(&lint.Result{Snapshots: snapshots})
		files := map[*source.File]bool{}
		for _, s := range snapshots {
			for _, r := range s.Resources {
				files[r.File] = true
			}
		}
		for f := range files {
			for i := range strings.Split(string(f.Text), "\n") {
				if line, _ := f.Line(i + 1); canary.Match(line) && !hides(f, i+1) {
					t.Errorf("line %d is shown: %s", i+1, line)
				}
			}
		}
	})
	if found < 100 {
		t.Errorf("only %d findings", found)
	}
}
