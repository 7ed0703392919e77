package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/routetest"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/walk"
	"github.com/xdslint/xdslint/internal/words"
)

type testFlags struct {
	inputFlags
	inputs   []string
	record   string
	coverage bool
	mutate   bool
	format   string
}

// testFormats are the formats of the command.
var testFormats = map[string]func(*routetest.Report, io.Writer) error{
	"text": (*routetest.Report).Text, "json": (*routetest.Report).JSON, "junit": (*routetest.Report).JUnit,
}

func newTest() *cobra.Command {
	f := &testFlags{}
	cmd := &cobra.Command{
		Use: "test FILE…", Short: "Run route tests", DisableFlagsInUseLine: true, Args: cobra.ArbitraryArgs,
		Long: `Run tests of what Envoy does with requests, without an Envoy. FILE has tests in one of two formats: requests under
"given" and the expected answers under "expect", as docs/testing.md describes, or the tests of Envoy's
router_check_tool, unchanged. - is standard input.

The configuration is the one that a file names under "input", or --input. With --record, xdslint writes tests instead:
they expect what Envoy does today with the requests of a file, which has the format of xdslint route --requests or is an
access log.

With --mutate, xdslint makes many single edits of the configuration. It lists those that change what happens to a
request and that no test notices, each with a test that would notice it. They do not change the exit status.

Exit status: 0 all tests passed, 1 a test failed or a file of the configuration could not be read, 2 the command
line or a test is wrong, 3 xdslint failed.`,
		Example: `  xdslint test shop.test.yaml
  xdslint test --input routes.yaml router_check.json --coverage
  xdslint test --input envoy.yaml --record requests.jsonl > shop.test.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.add(cmd)
	flags := cmd.Flags()
	grouped(flags, inputGroup, func() {
		flags.StringArrayVar(&f.inputs, "input", nil, "`PATH` of the configuration that is tested, in place of what the tests name; can be repeated")
		flags.StringVar(&f.record, "record", "", "write tests that expect what Envoy does today with the requests in `FILE`, or with those of an access log; - for standard input")
	})
	grouped(flags, outputGroup, func() {
		flags.StringVar(&f.format, "format", "text", "`FORMAT` of the results: "+strings.Join(formatNames(), ", "))
		flags.BoolVar(&f.coverage, "coverage", false, "list filter chains, domains, routes, weighted clusters and overrides that no test reaches")
		flags.BoolVar(&f.mutate, "mutate", false, "list edits of the configuration that change what happens to a request, and that no test notices")
	})
	complete(cmd, "format", formatNames())
	return cmd
}

func formatNames() []string { return []string{"text", "json", "junit"} }

func (f *testFlags) run(cmd *cobra.Command, args []string) error {
	write := testFormats[f.format]
	switch {
	case write == nil:
		return unknownFormat(f.format, formatNames())
	case f.record != "" && len(args) > 0:
		return errors.New("--record takes its requests from one file, and no tests")
	case f.record != "":
		return f.writeTests(cmd)
	case len(args) == 0:
		return errors.New("test needs a file with tests")
	case f.mutate && f.format == "junit":
		return errors.New("--mutate writes text or json")
	}
	all, err := f.runFiles(cmd, args)
	if err != nil {
		return err
	}
	if !f.coverage {
		all.Coverage = nil
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	if err := errors.Join(write(all, out), out.Flush()); err != nil {
		return failed(err)
	}
	return f.ended(all.Failed() > 0)
}

// runFiles runs the files over their configurations. Each configuration is read once.
func (f *testFlags) runFiles(cmd *cobra.Command, paths []string) (*routetest.Report, error) {
	var groups []*group
	for _, path := range paths {
		text, err := readTests(path)
		if err != nil {
			return nil, err
		}
		file, err := routetest.Read(&source.File{Name: path, Text: text})
		if err != nil {
			return nil, err
		}
		inputs := f.inputsOf(path, file)
		if len(inputs) == 0 {
			return nil, fmt.Errorf("%s does not name the configuration that it tests: use --input", path)
		}
		same := func(g *group) bool { return slices.Equal(g.inputs, inputs) && g.files[0].Checks == file.Checks }
		if i := slices.IndexFunc(groups, same); i >= 0 {
			groups[i].files = append(groups[i].files, file)
		} else {
			groups = append(groups, &group{inputs, []*routetest.File{file}})
		}
	}
	all := &routetest.Report{}
	for _, g := range groups {
		if f.untyped = ""; g.files[0].Checks {
			f.untyped = "envoy.config.route.v3.RouteConfiguration" // as Envoy's tool reads it
		}
		snapshot, err := f.one(cmd, g.inputs)
		if err != nil {
			return nil, err
		}
		one, err := routetest.Run(snapshot, g.files)
		if err == nil && f.mutate {
			err = mutate(cmd, one, snapshot, g)
		}
		if err != nil {
			return nil, err
		}
		all.Join(one)
	}
	return all, nil
}

// readTests reads a file with tests, or standard input.
func readTests(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(os.Stdin)
	}
	return source.ReadFile(path)
}

// mutate adds to the report which edits of a configuration its tests notice.
func mutate(cmd *cobra.Command, report *routetest.Report, snapshot *graph.Snapshot, g *group) (err error) {
	if report.Failed() > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "xdslint: %s is not edited, since a test of it failed\n", strings.Join(g.inputs, ", "))
		return nil
	}
	report.Mutation, err = routetest.Mutate(snapshot, g.files)
	return err
}

// group is files that test the same configuration.
type group struct {
	inputs []string
	files  []*routetest.File
}

// inputsOf returns the paths of the configuration that a file tests.
func (f *testFlags) inputsOf(path string, file *routetest.File) []string {
	if len(f.inputs) > 0 {
		return f.inputs
	}
	all := slices.Clone(file.Inputs)
	for i, input := range all {
		if !filepath.IsAbs(input) {
			all[i] = filepath.Join(filepath.Dir(path), input)
		}
	}
	return all
}

// writeTests writes tests of the requests in a file.
func (f *testFlags) writeTests(cmd *cobra.Command) error {
	if len(f.inputs) == 0 {
		return errors.New("--record needs --input, the configuration that the tests are about")
	}
	snapshot, err := f.one(cmd, f.inputs)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	r, err := routetest.NewRecorder(out, walk.New(snapshot), f.inputs)
	if err == nil {
		err = f.recordLines(cmd, r, r.OfLog(snapshot))
	}
	if err := errors.Join(err, failed(out.Flush())); err != nil {
		return err
	}
	return f.ended(false)
}

// shownLines is how many of the lines of a log that do not become tests are shown.
const shownLines = 10

// recordLines writes tests of requests, or of the lines of an access log.
func (f *testFlags) recordLines(cmd *cobra.Command, requests *routetest.Recorder, log *routetest.LogRecorder) error {
	lost := 0
	err := eachLine(f.record, func(n int, line []byte) error {
		if !log.Knows(string(line)) {
			return readRequest(line, requests.Record)
		}
		if err := log.Line(string(line)); err != nil {
			if lost++; lost <= shownLines {
				fmt.Fprintf(cmd.ErrOrStderr(), "xdslint: %s, line %d: no test, since %s\n", f.record, n, words.Printable(err.Error()))
			}
		}
		return nil
	})
	if lost > shownLines {
		fmt.Fprintf(cmd.ErrOrStderr(), "xdslint: %s: no test of %s\n", f.record, words.Count(lost-shownLines, "more line"))
	}
	if err == nil && requests.Tests == 0 {
		return fmt.Errorf("%s: no line becomes a test", f.record)
	}
	return err
}
