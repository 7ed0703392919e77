// Highlights are drawn over the picture, so that they do not redraw thousands of boxes.
import { boxHeight, boxWidth } from "./arrange.ts";
import { highlighted } from "./focus.ts";
import { neighbours, type Box } from "./model.ts";
import { BoxShape, boxClass, line } from "./boxes.tsx";
import { selected, current, picture, way, type Picture } from "./state.ts";

export function Highlights() {
  const shown = picture.value;
  if (!shown) return null;
  return (
    <g class="highlights" aria-hidden="true">
      <Way shown={shown} />
      {highlighted.value !== null && <Neighbourhood shown={shown} id={highlighted.value} />}
      {[...current.value.arrows].map((id) => (
        <Line key={id} shown={shown} id={id} of="current" />
      ))}
      {selected.value !== null && <Outline shown={shown} id={selected.value} of="selected" />}
      {[...current.value.boxes].map((id) => (
        <Outline key={id} shown={shown} id={id} of="current" />
      ))}
    </g>
  );
}

const most = 200; // neighbours that are highlighted

function Neighbourhood({ shown, id }: { shown: Picture; id: string }) {
  const { model, at } = shown;
  const box = model.boxes.get(id);
  if (!box) return null;
  const arrows = [...(model.into.get(id) ?? []), ...(model.out.get(id) ?? [])].slice(0, most);
  const boxes = new Set([box, ...neighbours(model, id).slice(0, most)]);
  return (
    <g class="highlighted">
      {arrows.map((a) => (
        <path key={a.id} class="arrow" d={line(a, at.boxes, at.arrows.get(a.id) ?? [])} marker-end="url(#tip-highlighted)" />
      ))}
      {[...boxes].map((b) => (
        <Copy key={b.id} shown={shown} box={b} />
      ))}
    </g>
  );
}

/** A box, drawn again over the picture. */
function Copy({ shown: { at }, box }: { shown: Picture; box: Box }) {
  const place = at.boxes.get(box.id);
  return place ? (
    <g class={boxClass(box)} data-kind={box.kind} transform={`translate(${place.x},${place.y})`}>
      <BoxShape box={box} far={false} />
    </g>
  ) : null;
}

/** The way of the request that is followed. */
function Way({ shown }: { shown: Picture }) {
  const { boxes, arrows } = way.value;
  return (
    <g class="way">
      {[...arrows].map((id) => (
        <Line key={id} shown={shown} id={id} of="lit" />
      ))}
      {[...boxes].map((id) => {
        const box = shown.model.boxes.get(id);
        return box && <Copy key={id} shown={shown} box={box} />;
      })}
      {[...boxes].map((id) => (
        <Outline key={id} shown={shown} id={id} of="lit" />
      ))}
    </g>
  );
}

function Line({ shown: { model, at }, id, of }: { shown: Picture; id: string; of: string }) {
  const arrow = model.arrows.find((a) => a.id === id);
  return arrow ? <path class={`arrow ${of}`} data-marked-arrow={id} d={line(arrow, at.boxes, at.arrows.get(id) ?? [])} marker-end={`url(#tip-${of === "lit" ? of : "highlighted"})`} /> : null;
}

function Outline({ shown: { at }, id, of }: { shown: Picture; id: string; of: string }) {
  const place = at.boxes.get(id);
  return place ? <rect class={`outline ${of}`} data-marked={id} x={place.x - 4} y={place.y - 4} width={boxWidth + 8} height={boxHeight + 8} rx="7" /> : null;
}
