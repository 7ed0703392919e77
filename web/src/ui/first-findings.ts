// Marks the time of the first findings on the screen. `make bench-web` measures it, and work that can wait starts after it.
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
