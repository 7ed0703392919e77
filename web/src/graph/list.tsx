// The graph as a list, for users who cannot or do not want to use the picture.
import { useSignal } from "@preact/signals";
import { count, kindWords, placeOf, stateWords, title, type Arrow, type Box, type Model } from "./model.ts";
import { selected, filtered, show } from "./state.ts";

const page = 200;
const few = 20;

export function List() {
  const model = filtered.value;
  const shown = useSignal(page);
  const boxes = [...model.boxes.values()];
  return (
    <div class="graph-list">
      <ul>
        {boxes.slice(0, shown.value).map((box) => (
          <Name key={box.id} model={model} box={box} />
        ))}
      </ul>
      {boxes.length > shown.value && (
        <p>
          {shown.value} of {count(boxes.length, "name")} listed.{" "}
          <button type="button" onClick={() => (shown.value += page)}>
            List more
          </button>
        </p>
      )}
    </div>
  );
}

function Name({ model, box }: { model: Model; box: Box }) {
  const choose = () => {
    selected.value = box.id;
    show(placeOf(model, box));
  };
  return (
    <li class={box.state} data-kind={box.kind}>
      <span class="swatch" /> <span class="muted">{kindWords(box.kind)}</span>{" "}
      <button type="button" class="name" onClick={choose}>
        {title(box)}
      </button>
      {stateWords[box.state] && <span class="state"> {stateWords[box.state]}</span>}
      {box.severity && (
        <span class={`severity ${box.severity}`}>
          {" "}
          {count(box.findings, "finding")}, worst: {box.severity}
        </span>
      )}
      <References words="refers to" arrows={model.out.get(box.id)} end="to" />
      <References words="referred to by" arrows={model.into.get(box.id)} end="from" />
    </li>
  );
}

/** Each button leads to the referring text. */
function References({ words, arrows, end }: { words: string; arrows: readonly Arrow[] | undefined; end: "from" | "to" }) {
  if (!arrows) return null;
  const edges = arrows.flatMap((arrow) => arrow.edges.map((edge) => ({ edge, other: arrow[end] })));
  return (
    <p>
      {words}{" "}
      {edges.slice(0, few).map(({ edge, other }) => (
        <button type="button" key={`${other.id} ${edge.field}`} title={edge.field} onClick={() => show(edge.location)}>
          {kindWords(other.kind)} {title(other)}
          {edge.location?.start && ` (line ${edge.location.start.line})`}
        </button>
      ))}
      {edges.length > few && ` and ${edges.length - few} more`}
    </p>
  );
}
