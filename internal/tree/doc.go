// Package tree holds what texts say before anybody knows which messages they are: values with their places, and the
// paths that lead to them. All text formats become the same [Node]s, so package decode, the edits of fixes and
// redaction do not know YAML from JSON.
//
// A node has its kind in JSON's terms, its text or its items, and the offsets where it begins and ends. Offsets are
// int32, and keys and items are slices of values, because large files have many nodes.
//
// A [Path] leads from a resource's message to a field, in proto names whatever the file uses. It continues through an
// Any as if its content were there. Paths are immutable and share their beginnings: a walk makes one step for each
// message.
//
// [Node.Locate] follows a path through a tree, and so finds the position of a finding. If the field is absent, the
// result is the nearest node around it, and Location.Exact is false. This is the only place where paths and positions
// meet: see package lint for the reason.
//
// A large file's values take several times as much memory as the file, and few of them are asked for once messages have
// been made of them. A [Text] knows where they are, and can read them again.
//
// A text can be inside another one, as the files in a ConfigMap are. [Node.Lines] finds out where the lines of a
// literal block are in the outer file, and [Node.Move] moves a tree there. Of other scalars the places are not known
// exactly: everything in them points to the whole scalar and is Bound, so that nothing edits it.
package tree
