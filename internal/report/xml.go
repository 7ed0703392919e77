package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"

	"github.com/xdslint/xdslint/lint"
)

type (
	suites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Suites   []Suite  `xml:"testsuite"`
	}
	// Suite is a group of test cases in JUnit's format.
	Suite struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Cases    []Case `xml:"testcase"`
	}
	// Case is a test case.
	Case struct {
		Name    string  `xml:"name,attr"`
		Class   string  `xml:"classname,attr"`
		File    string  `xml:"file,attr"`
		Line    int     `xml:"line,attr,omitempty"`
		Failure *Failed `xml:"failure"`
		Out     string  `xml:"system-out,omitempty"`
	}
	// Failed says why a test case failed.
	Failed struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes a suite for each file and a case for each finding. Only findings that fail the run are failures. A file
// without findings has one case, which passes.
func JUnit(w io.Writer, r *Report) error {
	all := r.diagnostics()
	var out []Suite
	byFile := map[string][]*lint.Diagnostic{}
	for i := range all {
		name := all[i].Resource.File.Name
		byFile[name] = append(byFile[name], &all[i])
	}
	for _, file := range r.files(all) {
		suite := Suite{Name: file}
		for _, d := range byFile[file] {
			suite.add(r, d)
		}
		if suite.Cases == nil {
			suite.Add(Case{Name: "xdslint", Class: file, File: file})
		}
		out = append(out, suite)
	}
	return WriteSuites(w, out)
}

// WriteSuites writes suites in JUnit's format.
func WriteSuites(w io.Writer, all []Suite) error {
	out := suites{Name: "xdslint", Suites: all}
	for _, s := range all {
		out.Tests += s.Tests
		out.Failures += s.Failures
	}
	return writeXML(w, out)
}

// Add adds a case, and counts it.
func (s *Suite) Add(c Case) {
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	s.Cases = append(s.Cases, c)
}

func (s *Suite) add(r *Report, d *lint.Diagnostic) {
	c := Case{Name: d.Rule.ID(), Class: s.Name, File: s.Name}
	if in := In(d.Resource, d.Path); in != "" {
		c.Name += " " + in
	}
	text := details(d, r.Target.Plane)
	if at := LocationOf(d.Resource.File, d.Span); at.Start != nil {
		c.Line = at.Start.Line
		text = fmt.Sprintf("%s:%d:%d: %s", s.Name, at.Start.Line, at.Start.Column, text)
	}
	if r.fails(d) {
		c.Failure = &Failed{Message: d.Message, Type: d.Severity.String(), Text: text}
	} else {
		c.Out = d.Severity.String() + ": " + text
	}
	s.Add(c)
}

// files lists the names of all files that were judged or have findings.
func (r *Report) files(all []lint.Diagnostic) []string {
	var names []string
	for _, s := range r.Snapshots {
		for _, res := range s.Resources {
			names = append(names, res.File.Name)
		}
	}
	for i := range all {
		names = append(names, all[i].Resource.File.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

type (
	checkstyle struct {
		XMLName xml.Name         `xml:"checkstyle"`
		Version string           `xml:"version,attr"`
		Files   []checkstyleFile `xml:"file"`
	}
	checkstyleFile struct {
		Name   string            `xml:"name,attr"`
		Errors []checkstyleError `xml:"error"`
	}
	checkstyleError struct {
		Line     int    `xml:"line,attr,omitempty"`
		Column   int    `xml:"column,attr,omitempty"`
		Severity string `xml:"severity,attr"`
		Message  string `xml:"message,attr"`
		Source   string `xml:"source,attr"`
	}
)

// Checkstyle writes the format of Java's Checkstyle, which many CI systems read.
func Checkstyle(w io.Writer, r *Report) error {
	out := checkstyle{Version: "10.0"}
	all := r.diagnostics()
	for i := range all {
		d := &all[i]
		at := LocationOf(d.Resource.File, d.Span)
		if n := len(out.Files); n == 0 || out.Files[n-1].Name != at.File {
			out.Files = append(out.Files, checkstyleFile{Name: at.File})
		}
		e := checkstyleError{Severity: d.Severity.String(), Message: details(d, r.Target.Plane), Source: "xdslint." + d.Rule.ID()}
		if at.Start != nil {
			e.Line, e.Column = at.Start.Line, at.Start.Column
		}
		file := &out.Files[len(out.Files)-1]
		file.Errors = append(file.Errors, e)
	}
	return writeXML(w, out)
}

func writeXML(w io.Writer, v any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
