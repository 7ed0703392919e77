// Problems are the findings of rules and the errors in the configuration.
import type { Fault, Finding, LintAnswer, Severity } from "../engine/shapes.ts";
import type { Findings } from "../project/lint.ts";
import type { Side } from "../project/project.ts";

export const severities = ["error", "warning", "info"] as const satisfies Severity[];

/** The linted side first. */
export const sides = ["after", "before"] as const satisfies Side[];

const known = new WeakMap<LintAnswer, Finding[]>();

/** Errors in the configuration come first, since they may explain the rest. */
export function allFindings(answer: LintAnswer): Finding[] {
  const all = known.get(answer) ?? [...answer.settings.map(ofSettings), ...answer.diagnostics];
  known.set(answer, all);
  return all;
}

const ofSettings = ({ message, location }: Fault): Finding => ({
  rule: "",
  severity: "error",
  message,
  resource: { kind: "", name: "" },
  field: "",
  location,
  related: [],
  fixes: [],
  url: "",
});

export type Counts = Record<Severity, number>;

/** The counts of each severity, including findings that the answer leaves out. */
export function countsOf(answers: readonly LintAnswer[]): Counts {
  const counts: Counts = { error: 0, warning: 0, info: 0 };
  for (const { summary, settings } of answers) {
    counts.error += summary.errors + settings.length;
    counts.warning += summary.warnings;
    counts.info += summary.infos;
  }
  return counts;
}

export const plural = (n: number, one: string, more = `${one}s`) => `${n} ${n === 1 ? one : more}`;

/** "3 errors, 1 warning" */
export function countsInWords(counts: Counts): string {
  const said = severities.filter((severity) => counts[severity] > 0).map((severity) => plural(counts[severity], severity, severity === "info" ? "infos" : undefined));
  return said.join(", ") || "No problems";
}

export interface Problem {
  side: Side;
  found: Findings; // the answer that it is part of
  finding: Finding;
}

/** The problems of one text. */
export interface Group {
  side: Side;
  name: string;
  problems: Problem[];
}

export interface Filter {
  severities: ReadonlySet<Severity>; // none: all
  words: string;
}

/** The problems that match a filter, by text. Each of its words must be in the message, the rule, the text's or the resource's name. */
export function groupsOf(found: Record<Side, Findings | null>, filter: Filter): Group[] {
  const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, Group>();
  for (const side of sides) {
    const answer = found[side];
    if (!answer) continue;
    for (const finding of allFindings(answer)) {
      if (!passes(finding, filter.severities, words)) continue;
      const name = finding.location.file;
      const key = `${side}/${name}`;
      const group = groups.get(key) ?? { side, name, problems: [] };
      group.problems.push({ side, found: answer, finding });
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

function passes({ severity, message, rule, location, resource }: Finding, chosen: ReadonlySet<Severity>, words: readonly string[]): boolean {
  if (chosen.size > 0 && !chosen.has(severity)) return false;
  const text = `${message} ${rule} ${location.file} ${resource.kind} ${resource.name}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** The first problems. A page with thousands would be slow. */
export function atMost(limit: number, groups: readonly Group[]): Group[] {
  const kept: Group[] = [];
  let left = limit;
  for (const group of groups) {
    if (left <= 0) break;
    kept.push({ ...group, problems: group.problems.slice(0, left) });
    left -= group.problems.length;
  }
  return kept;
}
