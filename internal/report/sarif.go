package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/lint"
)

// The parts of SARIF 2.1.0 that are used. (go-sarif links an HTTP client and a schema engine, too much for the browser
// and for the start of every run.)
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifInvocation struct {
		ExecutionSuccessful bool                `json:"executionSuccessful"`
		Notifications       []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifRule struct {
		ID      string    `json:"id"`
		Short   sarifText `json:"shortDescription"`
		Help    sarifText `json:"help"`
		HelpURI string    `json:"helpUri,omitempty"`
		Default struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
		Properties struct {
			Tags []string `json:"tags"`
		} `json:"properties"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Fixes        []sarifFix        `json:"fixes,omitempty"`
		Occurrences  int               `json:"occurrenceCount,omitempty"` // of a finding in place of others
	}
	sarifLocation struct {
		ID       int            `json:"id,omitempty"`
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
		Message  *sarifText     `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifLogical struct {
		Name          string `json:"name"`
		QualifiedName string `json:"fullyQualifiedName"`
		Kind          string `json:"kind"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)

// SARIF writes a log for code scanning services and editors. Like JSON, it encodes one finding after the other.
func SARIF(w io.Writer, r *Report) error {
	all := r.diagnostics()
	log, index := logSARIF(r, all)
	var frame bytes.Buffer
	enc := encoder(&frame)
	enc.SetIndent("", "  ")
	if err := enc.Encode(log); err != nil {
		return err
	}
	results := bytes.LastIndex(frame.Bytes(), []byte("[]")) + 1 // what follows them only closes
	out := bufio.NewWriter(w)                                   // keeps its first error, which Flush returns
	_, _ = out.Write(frame.Bytes()[:results])
	seen := map[lint.Key]int{}
	err := newIndenter().list(out, "      ", len(all), func(i int) any {
		d := &all[i]
		seen[d.Key()]++
		return resultSARIF(d, index[d.Rule], seen[d.Key()], r.Target.Plane)
	})
	if err != nil {
		return err
	}
	_, _ = out.Write(frame.Bytes()[results:])
	return out.Flush()
}

// logSARIF returns a log without results, and where it describes each rule.
func logSARIF(r *Report, all []lint.Diagnostic) (log sarifLog, index map[*lint.Rule]int) {
	run := sarifRun{ColumnKind: "utf16CodeUnits", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "xdslint", Version: r.Version, InformationURI: "https://github.com/xdslint/xdslint", Rules: []sarifRule{}}
	index = map[*lint.Rule]int{}
	describe := func(rule *lint.Rule) {
		if _, ok := index[rule]; !ok {
			index[rule] = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, describeRule(rule, rule.In(r.Profile)))
		}
	}
	for _, rule := range r.Rules {
		describe(rule)
	}
	for i := range all {
		describe(all[i].Rule)
	}
	invocation := sarifInvocation{ExecutionSuccessful: len(r.Failures) == 0}
	for _, failure := range r.Failures {
		invocation.Notifications = append(invocation.Notifications, sarifNotification{"error", sarifText{Text: failure.Error()}})
	}
	run.Invocations = []sarifInvocation{invocation}
	return sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0", Runs: []sarifRun{run},
	}, index
}

func levelSARIF(s lint.Severity) string {
	if s == lint.Info {
		return "note"
	}
	return s.String()
}

func describeRule(rule *lint.Rule, severity lint.Severity) sarifRule {
	why, help := explain.Help(rule)
	why, help = cmp.Or(why, rule.Summary), cmp.Or(help, rule.Summary)
	out := sarifRule{ID: rule.ID(), Short: sarifText{Text: rule.Summary}, Help: sarifText{Text: why, Markdown: help}, HelpURI: URL(rule)}
	out.Default.Level = levelSARIF(severity)
	out.Properties.Tags = []string{rule.Group}
	return out
}

func resultSARIF(d *lint.Diagnostic, rule, nth int, plane string) sarifResult {
	out := sarifResult{
		RuleID: d.Rule.ID(), RuleIndex: rule, Level: levelSARIF(d.Severity), Message: sarifText{Text: details(d, plane)},
		Locations:    []sarifLocation{locationSARIF(d.Resource, d.Path, d.Span)},
		Fingerprints: map[string]string{"xdslint/v1": fingerprint(d.Key(), nth)}, Occurrences: d.More,
	}
	for i, related := range d.Related {
		at := locationSARIF(related.Resource, related.Path, related.Span)
		at.ID, at.Message = i+1, &sarifText{Text: related.Message}
		out.Related = append(out.Related, at)
	}
	f := d.Resource.File
	for _, fix := range d.Fixes {
		change := sarifChange{Artifact: sarifArtifact{fileURI(f.Name)}, Replacements: []sarifReplacement{}}
		for _, e := range fix.Edits {
			change.Replacements = append(change.Replacements, sarifReplacement{*regionSARIF(f, e.Span), sarifText{Text: e.New}})
		}
		if len(change.Replacements) > 0 {
			out.Fixes = append(out.Fixes, sarifFix{sarifText{Text: fix.Message}, []sarifChange{change}})
		}
	}
	return out
}

// fingerprint returns an identity that stays the same when lines move. nth distinguishes findings with equal keys.
func fingerprint(k lint.Key, nth int) string {
	sum := fnv.New128a()
	fmt.Fprintf(sum, "%s\x00%s\x00%s\x00%s\x00%d", k.Rule, k.Kind, k.Name, k.Field, nth)
	return hex.EncodeToString(sum.Sum(nil))
}

func locationSARIF(r *graph.Resource, path *tree.Path, span source.Span) sarifLocation {
	at := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{fileURI(r.File.Name)}}}
	if r.File.Text != nil && !span.IsZero() {
		at.Physical.Region = regionSARIF(r.File, span)
	}
	if in := In(r, path); in != "" {
		name := path.String()
		if name == "" {
			name = r.Name
		}
		at.Logical = []sarifLogical{{Name: name, QualifiedName: in, Kind: "member"}}
	}
	return at
}

func regionSARIF(f *source.File, span source.Span) *sarifRegion {
	region := &sarifRegion{}
	region.StartLine, region.StartColumn = source.UTF16(f, span.Start)
	region.EndLine, region.EndColumn = source.UTF16(f, span.End)
	return region
}

// fileURI returns the URI of a path. A relative path stays relative, so that it fits any checkout.
func fileURI(path string) string {
	slashed := filepath.ToSlash(path)
	u := url.URL{Path: slashed}
	if filepath.IsAbs(path) {
		if !strings.HasPrefix(slashed, "/") {
			slashed = "/" + slashed
		}
		u = url.URL{Scheme: "file", Path: slashed}
	}
	return u.String()
}
