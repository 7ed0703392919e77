// The list of problems with their locations and fixes.
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Severity } from "../engine/shapes.ts";
import { findings } from "../project/lint.ts";
import { comparing } from "../project/project.ts";
import { answersOf, LeftOut, NoProblems, Waiting } from "./checked.tsx";
import { atMost, countsOf, allFindings, groupsOf, plural, severities, type Counts, type Filter, type Group } from "./findings.ts";
import { FixAll, FixOutcome } from "./fix-all.tsx";
import { listWanted } from "./focus.ts";
import { Item } from "./item.tsx";
import "./problems.css";

const step = 100; // how many problems are shown at once, and how many more at a time

export function Problems() {
  const filter = useSignal<Filter>({ severities: new Set(), words: "" });
  const limit = useSignal(step);
  const groups = useComputed(() => groupsOf(findings.value, filter.value));
  const answers = answersOf();
  if (answers.length === 0) return <Waiting />;

  const all = answers.reduce((sum, answer) => sum + allFindings(answer).length, 0);
  const left = answers.reduce((sum, answer) => sum + answer.more, 0);
  const matching = groups.value.reduce((sum, group) => sum + group.problems.length, 0);
  const change = (part: Partial<Filter>) => {
    filter.value = { ...filter.value, ...part };
    limit.value = step;
  };
  return (
    <div class="problems">
      {all > 0 && <Bar counts={countsOf(answers)} filter={filter.value} change={change} />}
      <FixOutcome />
      {all === 0 && <NoProblems answers={answers} />}
      {all > 0 && matching === 0 && <p class="problems-note muted">None of the {plural(all, "problem")} matches the filter.</p>}
      <List groups={atMost(limit.value, groups.value)} />
      {matching > limit.value && (
        <p class="problems-note">
          {matching - limit.value} more are not shown. <button onClick={() => (limit.value += step)}>Show {Math.min(step, matching - limit.value)} more</button>
        </p>
      )}
      {left > 0 && <p class="problems-note">{plural(left, "more problem")} not listed. Fix some of these to see more.</p>}
      <LeftOut answers={answers} />
    </div>
  );
}

function Bar({ counts, filter, change }: { counts: Counts; filter: Filter; change(part: Partial<Filter>): void }) {
  const toggle = (severity: Severity) => {
    const chosen = new Set(filter.severities);
    if (!chosen.delete(severity)) chosen.add(severity);
    change({ severities: chosen });
  };
  return (
    <div class="problems-bar">
      {severities.map(
        (severity) =>
          (counts[severity] > 0 || filter.severities.has(severity)) && (
            <button type="button" key={severity} aria-pressed={filter.severities.has(severity)} title={`Show ${severity}s only`} onClick={() => toggle(severity)}>
              <span class={`severity ${severity}`} /> {plural(counts[severity], severity)}
            </button>
          ),
      )}
      <input type="search" aria-label="Filter the problems" placeholder="Filter" value={filter.words} onInput={(event) => change({ words: event.currentTarget.value })} />
      <FixAll />
    </div>
  );
}

/** One problem is in the Tab order; the arrow keys go to the others. */
function List({ groups }: { groups: readonly Group[] }) {
  const list = useRef<HTMLDivElement>(null);
  const current = useSignal(0);
  const count = groups.reduce((sum, group) => sum + group.problems.length, 0);
  const here = Math.min(current.value, count - 1);
  const go = (to: number) => {
    const jumps = list.current?.querySelectorAll<HTMLElement>(".jump");
    jumps?.[Math.min(Math.max(to, 0), count - 1)]?.focus();
  };
  useSignalEffect(() => {
    if (!listWanted.value) return;
    listWanted.value = false;
    go(current.peek());
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const places = new Map([
      ["ArrowDown", here + 1],
      ["ArrowUp", here - 1],
      ["Home", 0],
      ["End", count - 1],
    ]);
    const to = places.get(event.key);
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  };
  let before = 0;
  return (
    <div ref={list} onKeyDown={onKeyDown}>
      {groups.map((group) => {
        const first = before;
        before += group.problems.length;
        return (
          <section key={`${group.side}/${group.name}`} aria-label={`Problems in ${group.name}${comparing.value ? `, ${group.side}` : ""}`}>
            <h3>
              {group.name} {comparing.value && <span class="muted">{group.side}</span>} <span class="muted">{group.problems.length}</span>
            </h3>
            <ul role="list">
              {group.problems.map((problem, i) => (
                <Item key={i} problem={problem} here={first + i === here} come={() => (current.value = first + i)} />
              ))}
            </ul>
          </section>
        );
      })}
    </div>
  );
}
