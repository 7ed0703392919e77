// Package report writes findings down: for people, for editors, for CI systems.
//
// [Formats] lists the formats; each is a function that gets a [Report] and writes it. [Text], [Concise], [JSON],
// [JSONL], [SARIF], [GitHub], [JUnit] and [Checkstyle] are in files by their shape. JSON, JSONL and SARIF are stable:
// fields are added, never renamed or removed.
//
// No format shows a secret. [Clean] takes the secrets out of a result once, and keeps what it knows about the files in
// Result.Secrets; [Redacted] does the same for a result that is not clean, so no caller can forget it. A finding of a
// custom rule can say anything, and is searched for the secrets of all files; a built-in one only for those of the
// files that it is about (textsOf). A fix that would write a secret is left out. Lines of files are not shown if they
// hold a secret (redact.File.Hides).
//
// Positions are counted here, from the offsets in a finding: nothing before needs lines. snippet.go makes a line fit
// for a terminal, where tabs, wide characters and control characters would move the caret. It cuts a very long line
// first: a minified file is one line, and each finding shows it.
//
// The fingerprint in SARIF is a hash of [lint.Key] and of a number that distinguishes findings with the same key, so
// that code scanning recognises a finding whose lines have moved.
package report
