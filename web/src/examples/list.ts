// The list of examples, by group, and the search in it.
import type { RuleSummary } from "../engine/shapes.ts";

export interface Entry {
  name: string;
  title: string;
  summary: string;
}

export interface Group {
  name: string;
  entries: readonly Entry[];
}

/** The rules by their groups, in the order in which the engine gives them. */
export function groupsOf(rules: readonly RuleSummary[]): Group[] {
  const groups = Map.groupBy(rules, ({ id }) => id.split("/")[0] ?? "");
  return [...groups].map(([name, all]) => ({ name, entries: all.map(({ id, summary }) => ({ name: id, title: id, summary })) }));
}

/** The entries that contain every word. */
export function matching(groups: readonly Group[], words: string): Group[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = (text: string) => wanted.every((word) => text.includes(word));
  return groups
    .map((group) => ({ name: group.name, entries: group.entries.filter((e) => holds(`${group.name} ${e.title} ${e.title.replace(/[-/]/g, " ")} ${e.summary}`.toLowerCase())) }))
    .filter((group) => group.entries.length > 0);
}
