// Package syntax reads texts, of YAML, JSON and proto text, into trees (package tree) in which every value has its
// place. Which message a tree is, package decode knows.
//
// [ParseYAML] tries package fastyaml first, which reads the YAML that most people write, and gives up on anything else.
// The YAML library reads the rest; a converter makes a tree of its nodes and adds what they lack: where values end, and
// the types of bare words as Envoy reads them. A fuzz target holds the two readers to the same trees. What the library
// rejects and Envoy accepts, such as a list in the column of its key, is blanked in a copy that is read again (blanked).
// [OutlineYAML] leaves the elements of some lists to [ReadItem], which reads each by itself: so they can be read in
// parallel, and need not be kept.
//
// [ParseJSON] is a reader of its own, since Envoy's takes what no library does (single quotes, bare keys, trailing
// commas, control characters in strings), and findings need the place of every value.
//
// [ParseProtoText] reads only the outline: where the fields are. Protobuf's own reader makes the message, and its
// values are never taken from the outline.
//
// Texts can be hostile. Each reader checks that the text is UTF-8, and limits the number of values before it takes
// memory for them (tooMany) and the depth of nesting. Aliases share what they repeat, so an alias bomb costs no memory;
// it is an error when they expand the text too far (aliasBudget). An anchor, an alias or a tag marks the nodes below it
// as Bound: nothing edits them, because their text has another meaning elsewhere.
//
// Lines in YAML are not lines in files: YAML knows more line breaks, and columns begin after a byte order mark.
// yamlLines translates. Documents before a broken one are returned with the error.
package syntax
