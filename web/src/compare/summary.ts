import type { PlanAnswer } from "../engine/shapes.ts";

const count = (n: number, what: string) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

/** The answer in a sentence or two. */
export function summary(plan: PlanAnswer): string {
  if (plan.broken.length > 0) return `The new configuration has errors, so there is no plan: ${count(plan.broken.length, "problem")}.`;
  if (plan.phases.length === 0) return plan.restart.length === 0 ? "Nothing to push: both sides are the same." : "Nothing to push: only the bootstrap differs.";
  if (plan.hazards.length === 0) return "Pushed all at once, this makes no request fail that succeeds today.";
  return `Pushed all at once, ${goes(plan.hazards.length)} wrong. ${planned(plan)}`;
}

const goes = (n: number) => `${count(n, "thing")} ${n === 1 ? "goes" : "go"}`;

function planned({ phases, remaining }: PlanAnswer): string {
  const way = phases.length === 1 ? "In one push in the right order" : `In ${phases.length} phases`;
  if (remaining.length === 0) return `${way}, nothing does.`;
  return `${way}, ${count(remaining.length, "thing")} still ${remaining.length === 1 ? "does: no order avoids it" : "do: no order avoids them"}.`;
}
