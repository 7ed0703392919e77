// The boxes and arrows in or near the visible part of the picture.
import { useMemo } from "preact/hooks";
import { boxHeight, boxWidth, type Arrangement } from "./arrange.ts";
import { tabStop } from "./focus.ts";
import { words, type Arrow, type Box, type Model } from "./model.ts";
import { BoxShape, boxClass, line } from "./boxes.tsx";
import { picture } from "./state.ts";
import type { Drawn, Region, View } from "./view.ts";

export function Content({ view }: { view: View }) {
  const shown = picture.value;
  return shown && <Drawing model={shown.model} at={shown.at} drawn={view.drawn.value} />;
}

function Drawing({ model, at, drawn }: { model: Model; at: Arrangement; drawn: Drawn }) {
  const stop = tabStop.value !== null && model.boxes.has(tabStop.value) ? tabStop.value : model.boxes.keys().next().value;
  const boxes = [...model.boxes.values()].filter((box) => box.id === stop || near(box, at, drawn));
  return (
    <>
      {at.frames.length > 1 && at.frames.map((f) => <SnapshotFrame key={f.snapshot} {...f} />)}
      <g class="arrows" aria-hidden="true">
        <Arrows model={model} at={at} drawn={drawn} />
      </g>
      <g class={drawn.far ? "boxes far" : "boxes"}>
        {boxes.map((box) => {
          const place = at.boxes.get(box.id);
          if (!place) return null;
          return (
            <g
              key={box.id}
              class={boxClass(box)}
              data-kind={box.kind}
              data-box={box.id}
              transform={`translate(${place.x},${place.y})`}
              role="button"
              tabindex={box.id === stop ? 0 : -1}
            >
              <title>{words(model, box)}</title>
              <BoxShape box={box} far={drawn.far} />
            </g>
          );
        })}
      </g>
    </>
  );
}

function SnapshotFrame({ snapshot, x, y, width, height }: { snapshot: string; x: number; y: number; width: number; height: number }) {
  return (
    <g class="snapshot">
      <rect x={x} y={y} width={width} height={height} rx="8" />
      <text x={x + 8} y={y - 8}>
        {snapshot || "Resources outside the bootstraps"}
      </text>
    </g>
  );
}

const broken = (arrow: Arrow) => arrow.to.state === "missing" || arrow.to.state === "presumed";

function Arrows({ model, at, drawn }: { model: Model; at: Arrangement; drawn: Drawn }) {
  const lines = useMemo(() => new Map(model.arrows.map((a) => [a.id, line(a, at.boxes, at.arrows.get(a.id) ?? [])])), [model, at]);
  const all = model.arrows.filter((a) => crosses(a, at, drawn));
  if (drawn.far) {
    // Zoomed out, they need not be told apart. One path is drawn faster than thousands.
    const together = (some: Arrow[]) => some.map((a) => lines.get(a.id)).join("");
    return (
      <>
        <path class="arrow" d={together(all.filter((a) => !broken(a)))} />
        <path class="arrow broken" d={together(all.filter(broken))} />
      </>
    );
  }
  return (
    <>
      {all.map((a) => (
        <g key={a.id} class={broken(a) ? `arrow-of ${a.to.state}` : "arrow-of"} data-arrow={a.id}>
          <title>{a.edges.map((e) => e.field).slice(0, 5).join("\n")}</title>
          <path class="arrow" d={lines.get(a.id)} marker-end={`url(#tip-${broken(a) ? a.to.state : "plain"})`} />
          <path class="hit" d={lines.get(a.id)} />
        </g>
      ))}
    </>
  );
}

const touches = (a: Region, b: Region) => a.left <= b.right && a.right >= b.left && a.top <= b.bottom && a.bottom >= b.top;

function near(box: Box, at: Arrangement, drawn: Region): boolean {
  const place = at.boxes.get(box.id);
  return place !== undefined && touches({ left: place.x, top: place.y, right: place.x + boxWidth, bottom: place.y + boxHeight }, drawn);
}

function crosses(arrow: Arrow, at: Arrangement, drawn: Region): boolean {
  const points = [at.boxes.get(arrow.from.id), at.boxes.get(arrow.to.id), ...(at.arrows.get(arrow.id) ?? [])].filter((p) => p !== undefined);
  const xs = points.map((p) => p.x);
  const ys = points.map((p) => p.y);
  return touches({ left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs) + boxWidth, bottom: Math.max(...ys) + boxHeight }, drawn);
}
