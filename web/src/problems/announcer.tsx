// Announces the number of problems to screen readers after a change.
import { useSignal, useSignalEffect } from "@preact/signals";
import { findings } from "../project/lint.ts";
import { countsInWords, countsOf } from "./findings.ts";

const pause = 1000; // milliseconds without a new answer

export function Announcer() {
  const said = useSignal("");
  useSignalEffect(() => {
    const answers = Object.values(findings.value).filter((answer) => answer !== null);
    if (answers.length === 0) return;
    const timer = setTimeout(() => (said.value = countsInWords(countsOf(answers))), pause);
    return () => clearTimeout(timer);
  });
  return (
    <p class="hidden-text" role="status">
      {said.value}
    </p>
  );
}
