// Package lint runs rules on snapshots of xDS resources and collects their findings. It does not know the built-in
// rules: the caller passes them in [Config].
//
// A [Rule] is data and one [Check]. [Each], [EachNamed] and [EachMatching] make checks of single messages,
// [EachResource], [EachProblem], [EachEdge] and [EachDangling] of a resource and what it has to do with others,
// [ForSnapshot] of a snapshot, [ForTransition] of a push, and [ForOrigin] of custom rules. The runner must know the
// message types of a rule before it walks, so a Check is not a plain function.
//
// [Run] judges each snapshot separately:
//
//  1. Each resource is walked once, several in parallel, through every Any and TypedStruct. For each message, the rules
//     that apply to its type are called; a run asks them once for each type (applying). The rules about what is around
//     the messages follow (worker.around).
//  2. The rules of the whole snapshot follow, and those of the transition if there is a snapshot before.
//  3. The custom rules run last, grouped by origin, several origins in parallel (customRules). An origin that fails is
//     reported once, by [CannotJudge], and loses all that it has found in the run.
//
// [RunAfter] takes from an earlier run what still holds. The units of a run are the messages of one resource, what is
// around them, and each rule over the snapshot. While a unit is judged, the questions of each rule to the snapshot are
// noted (Pass.Snapshot is a graph.View), so no rule declares what it depends on, and none can forget to. What a rule found
// in a unit holds as long as the resource is the same and no answer to its questions may have changed (graph.Delta): of a
// unit whose resource is the same, only the rules judge again that asked about what changed. A resource whose text has
// moved is the same, and the findings move along (moved.go). Custom rules run each time. What a run leaves out because
// there are too many findings is not taken into the next one.
//
// A run keeps 20,000 findings (limit.go). The rules share them, and what is left out is counted: a finding with
// Diagnostic.More is in place of it, so that no format and no exit status misses it. Which findings are kept depends on
// the order of resources alone, although several are judged in parallel, and what cannot be kept is not made. A rule is
// left when the context ends, wherever it reports (Pass.proceed). Searches for similar names are bounded:
// [Diagnostic.Guess] leaves them to the end of the run, when all findings are known, and [Pass.Nearest] searches at once.
//
// Findings are collected by resource and sorted at the end ([Sort]), so their order does not depend on scheduling. A
// rule that panics becomes a [Failure]; the other rules run.
//
// A finding is reported at an [At]: a message, or a field of it, by its path. Neither messages nor references carry
// positions. [Pass.Report] looks the position up in the text (graph.Resource.Locate) only for what is found. So a large
// configuration without findings needs no positions, a field that is absent points to the nearest one around it, and
// the same rules judge binary input, which has paths but no text.
//
// A rule does not report what it cannot know. [EachDangling] leaves out names in an open world, and
// [Pass.ReportDangling] makes a warning of what is only presumed. A part of a message (graph.Resource.Fragment) is
// judged only by rules that say so (Rule.Fragments), because an absent field in it means nothing. A finding with
// Rejected says that the target rejects the resource as it is delivered: verdicts depend on it.
//
// A [Fix] is edits of a text, never a message that is written again, so comments and layout stay. [Replace], [Rename],
// [Wrap], [Remove], [Insert], [Join], [Swap] and [MoveToEnd] (edit*.go) make them from the places in the tree. Where
// the end of an element is not certain, they return nothing: anchors, aliases, duplicate keys, scalars over several
// lines, template marks, proto text. A property test makes such edits in random texts, and reads the result again.
//
// [Key] identifies a finding although lines move. docs/architecture.md compares it with the other ways in which two
// findings can be the same.
package lint
