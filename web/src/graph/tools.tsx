// What part of the graph to show, and how.
import { kindWords } from "./model.ts";
import { asList, changeFilter, filter, complete } from "./state.ts";

export function Tools() {
  const { text, problems } = filter.value;
  return (
    <div class="graph-tools" role="group" aria-label="What the graph shows">
      <input type="search" aria-label="Filter by name or kind" placeholder="Filter by name or kind" value={text} onInput={(e) => changeFilter({ text: e.currentTarget.value })} />
      <Kinds />
      <label>
        <input type="checkbox" checked={problems} onChange={(e) => changeFilter({ problems: e.currentTarget.checked })} /> Only problems
      </label>
      <label>
        <input type="checkbox" checked={asList.value} onChange={(e) => (asList.value = e.currentTarget.checked)} /> As a list
      </label>
    </div>
  );
}

function Kinds() {
  const kinds = Map.groupBy(complete.value?.boxes.values() ?? [], (box) => box.kind);
  const { hidden } = filter.value;
  const toggle = (kind: string) => {
    const without = new Set(hidden);
    if (!without.delete(kind)) without.add(kind);
    changeFilter({ hidden: without });
  };
  const away = [...kinds.keys()].filter((kind) => hidden.has(kind)).length;
  return (
    <details class="kinds">
      <summary>Kinds{away > 0 && ` (${away} hidden)`}</summary>
      <ul>
        {[...kinds].map(([kind, boxes]) => (
          <li key={kind}>
            <label data-kind={kind}>
              <input type="checkbox" checked={!hidden.has(kind)} onChange={() => toggle(kind)} />
              <span class="swatch" /> {kindWords(kind)} <span class="muted">{boxes.length.toLocaleString("en")}</span>
            </label>
          </li>
        ))}
      </ul>
    </details>
  );
}
