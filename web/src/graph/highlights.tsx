// Highlights are drawn over the picture, so that they do not redraw thousands of boxes.
import { boxHeight, boxWidth } from "./arrange.ts";
import { highlighted } from "./focus.ts";
import { neighbours } from "./model.ts";
import { BoxShape, boxClass, line } from "./boxes.tsx";
import { selected, current, picture, type Picture } from "./state.ts";

export function Highlights() {
  const shown = picture.value;
  if (!shown) return null;
  return (
    <g class="highlights" aria-hidden="true">
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
      {[...boxes].map((b) => {
        const place = at.boxes.get(b.id);
        return (
          place && (
            <g key={b.id} class={boxClass(b)} data-kind={b.kind} transform={`translate(${place.x},${place.y})`}>
              <BoxShape box={b} far={false} />
            </g>
          )
        );
      })}
    </g>
  );
}

function Line({ shown: { model, at }, id, of }: { shown: Picture; id: string; of: string }) {
  const arrow = model.arrows.find((a) => a.id === id);
  return arrow ? <path class={`arrow ${of}`} data-marked-arrow={id} d={line(arrow, at.boxes, at.arrows.get(id) ?? [])} marker-end="url(#tip-highlighted)" /> : null;
}

function Outline({ shown: { at }, id, of }: { shown: Picture; id: string; of: string }) {
  const place = at.boxes.get(id);
  return place ? <rect class={`outline ${of}`} data-marked={id} x={place.x - 4} y={place.y - 4} width={boxWidth + 8} height={boxHeight + 8} rx="7" /> : null;
}
