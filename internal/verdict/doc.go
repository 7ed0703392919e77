// Package verdict determines whether a data plane would accept a file by itself. It has no rules of its own: [Of] lints
// the file for each target and keeps the findings that are Rejected, which say that the target rejects the resource as
// it is delivered.
//
// The same message can be accepted over xDS and rejected in a bootstrap, so a verdict names the delivery. Only findings
// in the file itself count: files that a bootstrap names are read, but their findings are left out. Configuration,
// suppressions and severities have no effect, because Envoy does not know them.
//
// A rule that fails makes an error of the verdict: without it, accept would be a guess.
package verdict
