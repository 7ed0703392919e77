// Keyboard navigation between problems, which also announces them to screen readers.
import { diagnosticCount, forEachDiagnostic, nextDiagnostic, previousDiagnostic } from "@codemirror/lint";
import type { EditorState } from "@codemirror/state";
import { EditorView, type Command } from "@codemirror/view";
import { isMark, type Mark } from "./marks.ts";

/** The marks that touch a range, in the order of the text. */
export function marksAt(state: EditorState, from: number, to: number): Mark[] {
  const found: Mark[] = [];
  forEachDiagnostic(state, (d, start, end) => {
    if (isMark(d) && start <= to && end >= from) found.push(d);
  });
  return found;
}

const aloud = ({ finding }: Mark) =>
  [`${finding.severity}: ${finding.message}.`, finding.help && `Help: ${finding.help}.`, finding.fixes.length > 0 && "Control period shows the fixes."]
    .filter(Boolean)
    .join(" ");

/** Announces the problem that was moved to. A single problem is announced again. */
const stepping =
  (step: Command): Command =>
  (view) => {
    step(view);
    const { from, to } = view.state.selection.main;
    const said = diagnosticCount(view.state) > 0 ? marksAt(view.state, from, to).map(aloud).join(" ") : "No problems in this text.";
    view.dispatch({ effects: EditorView.announce.of(said) });
    return true;
  };

export const nextProblem = stepping(nextDiagnostic);
export const previousProblem = stepping(previousDiagnostic);
