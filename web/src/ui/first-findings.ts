// When the page had its first findings on the screen: what `make bench-web` measures, and what everything that can wait waits for.
import { effect } from "@preact/signals";
import { findings } from "../project/lint.ts";

export function markFirstFindings(): void {
  let marked = false;
  effect(() => {
    if (marked || !findings.value.after) return;
    marked = true;
    requestAnimationFrame(() => performance.mark("xdslint:first-findings")); // the interface follows the findings before the next frame
  });
}
