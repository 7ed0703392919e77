// Package redact knows which parts of a configuration are secrets, and takes them out of what is shown, stored or
// passed on.
//
// list.go is the one list of what a secret is: sensitive fields (Envoy's protos mark many of them), headers and keys
// with credentials, words that end the names of secrets, and what looks like a secret anywhere. judge.go answers
// questions about the list. Four faces of the package read it:
//
//   - [JSON] is for the text of a known message, such as a config_dump. All else stays as it is, to the byte.
//   - [Text] is for any text that people have, before it is shared. It also redacts comments, and it returns the
//     places.
//   - [Message] and [Place] copy messages, for plugins.
//   - [Files] is for reports: texts of findings ([File.Text]) and lines of files ([File.Hides]).
//
// A redactor walks the tree of a text and notes edits: by the fields of the message (fields), by the names of keys
// where there is no message (unknown), and by looks in every text (looks). It also looks into texts that are JSON or
// YAML themselves (inside). The edits replace only values, so the rest keeps its layout.
//
// Text does not trust itself. A secret that was found is looked for everywhere else in the text (repeated). Then the
// result is read again; if anything is left, or the text cannot be read, it goes line by line, and a broken text is
// better than a secret (remain, lines).
//
// Files is lazy: nothing of a file is looked through before something of it is shown. A report quotes texts that are
// secret only in another place, so values count too, not only places. Short values are left out, since they are found
// in the middle of other words. A finding of a custom rule can say anything: report.Redacted takes the secrets of all
// files out of it.
//
// Different values of a header become different words where requests are matched by it (apart): of two routes that
// differ only in a secret, neither is unreachable.
package redact
