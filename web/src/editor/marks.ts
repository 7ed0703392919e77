// Findings as CodeMirror diagnostics: gutter sign, underline and tooltip.
import type { Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import type { Files, Finding, Fix } from "../engine/shapes.ts";
import { allFindings } from "../problems/findings.ts";
import type { Findings } from "../project/lint.ts";
import type { Place } from "../project/project.ts";
import { hover } from "./hover.tsx";
import { finder, rangeOf } from "./positions.ts";

/** A finding in the text, and how one of its fixes is applied. */
export interface Mark extends Diagnostic {
  finding: Finding;
  texts: Files; // in which it was found
  apply(fix: Fix): void;
}

export const isMark = (d: Diagnostic): d is Mark => "finding" in d;

export function marksOf(doc: Text, found: Findings, place: Place, apply: (finding: Finding, fix: Fix) => void): Mark[] {
  const find = finder(doc);
  return allFindings(found)
    .filter((finding) => finding.location.file === place.name)
    .map((finding) => {
      const mark: Mark = {
        ...rangeOf(doc, find, finding.location),
        severity: finding.severity,
        message: finding.message,
        finding,
        texts: found.texts,
        apply: (fix) => apply(finding, fix),
        renderMessage: () => hover(mark),
      };
      return mark;
    });
}
