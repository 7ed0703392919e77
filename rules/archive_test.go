package rules_test

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/evidence"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/lint"
)

// archive is the examples of one rule: testdata/rules/GROUP/RULE.txtar.
//
//	why.md              what the data plane does with it, where that was seen, what to write instead
//	bad*.yaml, bad1/…   an example that the rule reports. If its first line is "# in: NAME", it is put into
//	                    testdata/skeletons/NAME.yaml in place of the line "# example", and that is judged. A folder is several files in one run. Paths in
//	                    a bootstrap start in its own folder: ./rds.yaml (Envoy does not take rds.yaml)
//	good*.yaml, …       an example that no rule reports
//	flags               optional: "assume KIND:GLOB", "open KIND", "closed KIND", "target PLANE:VERSION",
//	                    "profile PROFILE", "root FOLDER", "now DATE", one a line; for one
//	                    example only with "EXAMPLE: " before it
//	envoy               optional: "EXAMPLE: WHY" for each example that Envoy is not asked about. It judges a bootstrap by
//	                    --mode validate; resources without one are pushed over ADS. The word crash: Envoy crashes on it
//	seen/EXAMPLE        optional: what a running Envoy does with an example; package internal/evidence says how to write it. After its fixes,
//	                    bad2.yaml does what is seen of good2.yaml, or else what seen/fixed/bad2.yaml says
//	rpc                 optional, for gRPC: "EXAMPLE: STATUS", what an RPC gets from a real client that has the example. The client is
//	                    asked about every example of such an archive in any case
//	want                what the rule reports of the bad ones
//	also                what other rules say of them, a line each: "EXAMPLE: RULE: MESSAGE"
//	fixed/bad.yaml, …   what --fix --unsafe-fixes makes of a bad example, where it makes anything of it
//
// want, also and fixed are written by `go test ./rules -run 'TestArchives/GROUP/RULE' -update`, or for all rules by `go test ./rules -update`.
//
// An example of the group transition is a push: a folder with what is before it and what is after it, each one snapshot.
//
//	bad*/old.yaml, bad*/new.yaml, good*/…   or folders, bad1/old/…, bad1/new/…; what a half is found to have by itself is not
//	                    said, nor are notes of other rules
//	flags               also "push TRANSPORT VERSIONS"; else the push is by the defaults of lint.Push
//	envoy               "EXAMPLE: SYMPTOMS" for every example: what the plain push shows on a real Envoy, as package
//	                    internal/transitions spells it, which asks
type archive struct {
	path     string
	rule     string // its id
	text     *txtar.Archive
	examples []string
	envoy    map[string]string
	flags    map[string]*flags // by example; "" for all
	seen     map[string]*evidence.Evidence
	rpc      map[string]string // by example: the status of an RPC
}

type flags struct {
	assumptions graph.Assumptions
	target      dataplane.Target
	profile     lint.Profile
	push        lint.Push
	root        string
	clock       lint.Clock
}

var folder = flag.String("archives", "../testdata/rules", "the folder of the archives")

func archives(t *testing.T) []*archive {
	t.Helper()
	root, err := filepath.Abs(*folder) // the examples are run from folders of their own
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(root, "*", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*archive
	for _, p := range paths {
		text, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		group, file := filepath.Base(filepath.Dir(p)), filepath.Base(p)
		a := &archive{path: p, rule: group + "/" + strings.TrimSuffix(file, ".txtar"), text: text, envoy: map[string]string{}, flags: map[string]*flags{}, seen: map[string]*evidence.Evidence{}, rpc: map[string]string{}}
		if err := a.read(); err != nil {
			t.Errorf("%s: %v", p, err)
		}
		all = append(all, a)
	}
	return all
}

// eachExample calls f for every example that is not a push, in a folder with its files.
func eachExample(t *testing.T, f func(t *testing.T, a *archive, example string)) {
	t.Helper()
	for _, a := range archives(t) {
		if a.between() {
			continue
		}
		t.Run(a.rule, func(t *testing.T) {
			dir := t.TempDir()
			a.extract(t, dir)
			t.Chdir(dir)
			for _, example := range a.examples {
				f(t, a, example)
			}
		})
	}
}

func (a *archive) read() error {
	for _, f := range a.text.Files {
		name, _, _ := strings.Cut(f.Name, "/")
		var err error
		switch {
		case written(f.Name), f.Name == "why.md":
		case f.Name == "flags":
			err = a.readFlags(string(f.Data))
		case f.Name == "envoy":
			err = a.readEnvoy(string(f.Data))
		case f.Name == "rpc":
			err = a.readRPC(string(f.Data))
		case name == explain.Seen:
			err = a.readSeen(f)
		case !strings.HasPrefix(name, "bad") && !strings.HasPrefix(name, "good"):
			err = fmt.Errorf("%s: an example's name begins with bad or good", f.Name)
		default:
			_, err = explain.File{Name: f.Name, Text: string(f.Data)}.Skeleton()
			if !slices.Contains(a.examples, name) {
				a.examples = append(a.examples, name)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *archive) readFlags(text string) (err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		example, flag, one := strings.Cut(line, ": ")
		if !one {
			example, flag = "", line
		} else if !a.has(example) {
			return fmt.Errorf("flags: no example %s", example)
		}
		f := a.flags[example]
		if f == nil {
			f = &flags{}
			a.flags[example] = f
		}
		switch word, rest, _ := strings.Cut(flag, " "); word {
		case "assume":
			kind, glob, _ := strings.Cut(rest, ":")
			f.assumptions.Names = append(f.assumptions.Names, graph.Assumed{Kind: graph.Kind(kind), Glob: glob})
		case "open":
			f.assumptions.Open = append(f.assumptions.Open, graph.Kind(rest))
		case "closed":
			f.assumptions.Closed = append(f.assumptions.Closed, graph.Kind(rest))
		case "target":
			f.target, err = dataplane.Parse(rest)
		case "profile":
			f.profile, err = lint.ParseProfile(rest)
		case "root":
			f.root = rest
		case "now":
			f.clock.Days = 14
			f.clock.Now, err = time.Parse(time.DateOnly, rest)
		case "push":
			transport, versions, _ := strings.Cut(rest, " ")
			f.push, err = lint.ParsePush(transport, versions)
		default:
			err = fmt.Errorf("flags: unknown %q", word)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// flagsOf returns the flags of one example: its own, or those of all.
func (a *archive) flagsOf(example string) flags {
	for _, name := range []string{example, ""} {
		if f := a.flags[name]; f != nil {
			return *f
		}
	}
	return flags{}
}

func (a *archive) readEnvoy(text string) error {
	for line := range strings.Lines(text) {
		example, why, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || !a.has(example) {
			return fmt.Errorf("envoy: %q is not \"EXAMPLE: WHY\"", line)
		}
		a.envoy[example] = why
	}
	return nil
}

func (a *archive) readSeen(f txtar.File) (err error) {
	_, example, _ := strings.Cut(f.Name, "/")
	if !a.has(strings.TrimPrefix(example, "fixed/")) {
		return fmt.Errorf("%s: no example %s", f.Name, example)
	}
	a.seen[example], err = evidence.Parse(f.Name, string(f.Data))
	return err
}

func (a *archive) has(example string) bool {
	return slices.ContainsFunc(a.text.Files, func(f txtar.File) bool {
		return f.Name == example || strings.HasPrefix(f.Name, example+"/")
	})
}

// files returns the examples as they are in the archive.
func (a *archive) files() (all []explain.File) {
	for _, f := range a.text.Files {
		all = append(all, explain.File{Name: f.Name, Text: string(f.Data)})
	}
	return all
}

// extract writes the examples into a folder, with their skeletons around them.
func (a *archive) extract(t *testing.T, dir string) {
	t.Helper()
	for _, f := range a.files() {
		to := filepath.Join(dir, filepath.FromSlash(path.Clean(f.Name)))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(f.Whole()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// written reports whether -update writes a section of an archive.
func written(section string) bool {
	return section == "want" || section == "also" || strings.HasPrefix(section, "fixed/")
}

// compare compares the sections that the examples now give with those in the archive.
func (a *archive) compare(t *testing.T, got []txtar.File) {
	t.Helper()
	for _, f := range got {
		if diff := cmp.Diff(a.section(f.Name), string(f.Data)); diff != "" {
			t.Errorf("%s differs (go test ./rules -update writes it):\n%s", f.Name, diff)
		}
	}
	for _, f := range a.text.Files {
		if written(f.Name) && !slices.ContainsFunc(got, func(g txtar.File) bool { return g.Name == f.Name }) {
			t.Errorf("%s has no reason to be there any more (go test ./rules -update takes it out)", f.Name)
		}
	}
}

func (a *archive) section(name string) string {
	for _, f := range a.text.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// update writes the sections that the examples now give.
func (a *archive) update(t *testing.T, got []txtar.File) {
	t.Helper()
	files := slices.DeleteFunc(slices.Clone(a.text.Files), func(f txtar.File) bool { return written(f.Name) })
	text := txtar.Format(&txtar.Archive{Comment: a.text.Comment, Files: append(files, got...)})
	if err := os.WriteFile(a.path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func rejections(found []lint.Diagnostic) []string {
	var all []string
	for i := range found {
		if found[i].Rejected {
			all = append(all, fmt.Sprintf("%s: %s (%s)", found[i].Rule.ID(), found[i].Message, found[i].Upstream))
		}
	}
	return all
}
