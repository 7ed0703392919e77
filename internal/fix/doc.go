// Package fix applies the fixes that findings offer: to one text ([Apply]), or in rounds until nothing is left to fix
// ([Rounds]). It writes no files, and does not know how to lint: Work.Lint does.
//
// A round goes through candidates, which collects fixes that can be applied together, and trial.grow, which keeps those
// that do no harm. The texts of the round are then linted again, since a fix may make another one possible; ten rounds
// are the limit.
//
// Two fixes are applied together only if their edits do not touch (patch.meets). If one of them deletes, there must be
// content between them: each alone leaves an element of a list, but together they could empty it. The same edits of two
// findings count once.
//
// A fix does harm if there is a new error afterwards, if a rule fails, or if the file can no longer be read (harmed).
// If all candidates of a round together do harm, each half is tried, down to single fixes; a harmful one is not tried
// again. An error is new by rule, file and message, and counted: its place moves with every edit.
//
// Work.Key decides which files may be changed. It is the same for all names of a file, and empty for a file that only a
// bootstrap names, or whose text is not what is on disk. The edits themselves come from package lint (edit*.go).
package fix
