// Applies all safe fixes with the engine, which works in rounds and leaves out fixes that conflict.
import { signal } from "@preact/signals";
import { engine } from "../engine/engine.ts";
import { rewrite } from "../editor/documents.ts";
import { findings, targets } from "../project/lint.ts";
import { filesOf, texts, type Text } from "../project/project.ts";
import { plural, sides } from "./findings.ts";

/** The outcome, shown until a text changes. */
const outcome = signal<{ texts: readonly Text[]; said: string } | null>(null);

export const FixOutcome = () => (
  <p class="problems-done" role="status">
    {outcome.value?.texts === texts.value && outcome.value.said}
  </p>
);

export function FixAll() {
  const fixable = sides.flatMap((side) => findings.value[side]?.diagnostics ?? []).filter((finding) => finding.fixes.some((fix) => fix.safe)).length;
  if (fixable === 0) return null;
  return (
    <button type="button" onClick={() => void fixAll()}>
      {fixable === 1 ? "Apply the safe fix" : `Apply ${fixable} safe fixes`}
    </button>
  );
}

async function fixAll(): Promise<void> {
  let applied = 0;
  let said = "";
  for (const side of sides) {
    if (!findings.peek()[side]) continue;
    const files = filesOf(side);
    try {
      const answer = await engine.ask("fix", { files, targets: targets(), unsafe: false });
      if (files !== filesOf(side)) continue; // the texts have changed since
      for (const text of texts.value) {
        const fixed = answer.files[text.name];
        if (text.side === side && fixed !== undefined) rewrite(text, fixed);
      }
      applied += answer.applied;
    } catch (error) {
      said = `The fixes could not be applied: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  outcome.value = { texts: texts.value, said: said || (applied > 0 ? `${plural(applied, "fix", "fixes")} applied` : "No fix could be applied") };
}
