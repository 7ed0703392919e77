// Package suppress removes findings that comments or the ignores of the configuration suppress. A suppression that
// hides nothing is itself a finding.
//
// [Apply] collects the comments of all files of a result, asks them and each [Ignore] about every finding, and adds the
// findings of the group [Rules] about the suppressions. These rules have no check of their own: only Apply knows what
// was hidden.
//
// A comment is bound to a line: its own, or the next one that is not a comment if it is alone on its line. It hides
// findings that begin on that line and match one of its rules. It counts only outside of strings (texts), and not in
// JSON files, which have no comments. An ignore is bound to no text: it matches a rule, a glob over KIND/NAME and a
// glob over fields, and a field means everything below it. So both survive edits elsewhere, and neither needs a key of
// findings.
//
// A suppression is reported as unused only if one of its rules ran, and an ignore only in a run over everything that
// the configuration was written for (Options.Whole). The stage after this one settles the severities of the new
// findings, as of all others.
package suppress
