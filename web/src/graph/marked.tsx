// What stands out, drawn over the picture, so that a picture of thousands of boxes need not be drawn anew for it.
import { boxHeight, boxWidth } from "./arrange.ts";
import { lit } from "./marks.ts";
import { neighbours } from "./net.ts";
import { BoxShape, boxClass, line } from "./shapes.tsx";
import { chosen, current, picture, type Picture } from "./state.ts";

export function Marks() {
  const shown = picture.value;
  if (!shown) return null;
  return (
    <g class="marks" aria-hidden="true">
      {lit.value !== null && <Lit shown={shown} id={lit.value} />}
      {[...current.value.arrows].map((id) => (
        <Line key={id} shown={shown} id={id} of="current" />
      ))}
      {chosen.value !== null && <Outline shown={shown} id={chosen.value} of="chosen" />}
      {[...current.value.boxes].map((id) => (
        <Outline key={id} shown={shown} id={id} of="current" />
      ))}
    </g>
  );
}

const most = 200; // neighbours that light up

function Lit({ shown, id }: { shown: Picture; id: string }) {
  const { net, at } = shown;
  const box = net.boxes.get(id);
  if (!box) return null;
  const arrows = [...(net.into.get(id) ?? []), ...(net.out.get(id) ?? [])].slice(0, most);
  const boxes = new Set([box, ...neighbours(net, id).slice(0, most)]);
  return (
    <g class="lit">
      {arrows.map((a) => (
        <path key={a.id} class="arrow" d={line(a, at.boxes, at.arrows.get(a.id) ?? [])} marker-end="url(#tip-lit)" />
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

function Line({ shown: { net, at }, id, of }: { shown: Picture; id: string; of: string }) {
  const arrow = net.arrows.find((a) => a.id === id);
  return arrow ? <path class={`arrow ${of}`} data-marked-arrow={id} d={line(arrow, at.boxes, at.arrows.get(id) ?? [])} marker-end="url(#tip-lit)" /> : null;
}

function Outline({ shown: { at }, id, of }: { shown: Picture; id: string; of: string }) {
  const place = at.boxes.get(id);
  return place ? <rect class={`outline ${of}`} data-marked={id} x={place.x - 4} y={place.y - 4} width={boxWidth + 8} height={boxHeight + 8} rx="7" /> : null;
}
