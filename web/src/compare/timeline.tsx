// The phases of a plan, from top to bottom. Each has a lane for each type, in the order of sending.
import { More } from "../ui/more.tsx";
import { Name } from "./name.tsx";
import type { Cell, Item, Row, Timeline as Lines, Word } from "./phases.ts";

/** More resources than this are collapsed behind their count. */
const few = 8;

export function Timeline({ lanes, rows }: Lines) {
  const [only] = rows.length === 1 ? rows : [];
  return (
    <section class="compare-section" aria-label="Plan">
      <h3>{only ? "The plan is one push" : `The plan, in ${rows.length} phases`}</h3>
      <ol class={lanes.length > 4 ? "phases wide" : "phases"} role="list" style={{ "--lanes": lanes.length }}>
        {rows.map((row, i) => (
          <li class="phase">
            <h4>
              <span class="hidden-text">Phase </span>
              {i + 1}
            </h4>
            <p>{row.why}</p>
            <Sends lanes={lanes} row={row} />
            <ul class="waits" role="list" aria-label="Then wait">
              {row.waits.map((wait) => (
                <li>
                  <span class="wait">wait</span> {wait}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Sends({ lanes, row }: { lanes: readonly string[]; row: Row }) {
  const unused = lanes.flatMap((api, lane) => (row.cells.some((c) => c.lane === lane) ? [] : [{ api, lane }]));
  return (
    <div class="sends">
      <ol role="list" aria-label="Send, in this order">
        {row.cells.map((cell) => (
          <li class="cell" style={{ "--lane": cell.lane + 1 }}>
            <CellOf {...cell} />
          </li>
        ))}
      </ol>
      {unused.map(({ api, lane }) => (
        <span class="cell unused" aria-hidden="true" style={{ "--lane": lane + 1 }}>
          <span class="api">{api}</span>
        </span>
      ))}
    </div>
  );
}

function CellOf({ api, groups }: Cell) {
  return (
    <>
      <span class="api">{api}</span>
      {groups.map(({ word, items }) => (
        <Group word={word} items={items} />
      ))}
    </>
  );
}

function Group({ word, items }: { word: Word; items: Item[] }) {
  const kind = `group ${word.replace(" ", "-")}`;
  const names = (
    <More all={items} first={100} label={word}>
      {({ name, location, touched }) => (
        <>
          <Name name={name} location={location} />
          {touched.map((touch) => (
            <span class="muted touch">
              has {touch.field}: {touch.value}
            </span>
          ))}
        </>
      )}
    </More>
  );
  if (items.length <= few) {
    return (
      <div class={kind}>
        <span class="word">{word}</span>
        {names}
      </div>
    );
  }
  return (
    <details class={kind}>
      <summary>
        <span class="word">{word}</span> {items.length.toLocaleString("en")}
      </summary>
      {names}
    </details>
  );
}
