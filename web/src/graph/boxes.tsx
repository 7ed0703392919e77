// How boxes and arrows look.
import type { Severity } from "../engine/shapes.ts";
import { boxHeight, boxWidth, type Point } from "./arrange.ts";
import { count, kindWords, stateWords, title, type Arrow, type Box } from "./model.ts";

/** Each severity has a sign besides its colour. */
const signs: Record<Severity, string> = { error: "✕", warning: "!", info: "i" };

export function BoxShape({ box, far }: { box: Box; far: boolean }) {
  if (far) return <rect class="frame" width={boxWidth} height={boxHeight} />;
  const inline = box.state === "inside"; // shown by the round ends
  const state = inline ? "" : stateWords[box.state];
  const folded = box.members.length > 0;
  return (
    <>
      {folded && <rect class="frame behind" x="5" y="5" width={boxWidth} height={boxHeight} rx="4" />}
      <rect class="frame" width={boxWidth} height={boxHeight} rx={inline ? boxHeight / 2 : 4} />
      {!inline && <rect class="stripe" width="4" height={boxHeight} rx="2" />}
      <g clip-path="url(#within-a-box)">
        <text class="kind" x="13" y="17">
          {state && <tspan class="state">{state} · </tspan>}
          {kindWords(box.kind)}
          {folded && "s"}
        </text>
        <text class="name" x="13" y="35">
          {folded ? `${box.members.length.toLocaleString("en")} similar: select to open` : shortened(title(box), box.severity ? 17 : 20)}
        </text>
      </g>
      {box.severity && (
        <g class={`badge ${box.severity}`} transform={`translate(${boxWidth - 16},${boxHeight / 2})`}>
          <title>{count(box.findings, "finding")}</title>
          <circle r="9" />
          <text text-anchor="middle" y="4">
            {signs[box.severity]}
          </text>
        </g>
      )}
    </>
  );
}

/** Shortens in the middle, since names often differ only at their ends. */
function shortened(name: string, room: number): string {
  const letters = [...name.slice(0, 2000)];
  if (letters.length <= room) return name;
  return `${letters.slice(0, Math.floor(room / 2)).join("")}…${letters.slice(1 - Math.ceil(room / 2)).join("")}`;
}

export const boxClass = (box: Box) => `box ${box.state}${box.members.length > 0 ? " folded" : ""}`;

/** A line from the right of one box to the left of another, through the bends of the layout. */
export function line(arrow: Arrow, boxes: ReadonlyMap<string, Point>, bends: readonly Point[]): string {
  const from = boxes.get(arrow.from.id);
  const to = boxes.get(arrow.to.id);
  if (!from || !to) return "";
  if (from === to) return `M${from.x + boxWidth - 20},${from.y} c0,-26 -30,-26 -30,-1`;
  const back = to.x < from.x;
  const start = { x: from.x + (back ? 0 : boxWidth), y: from.y + boxHeight / 2 };
  const end = { x: to.x + (back ? boxWidth : 0), y: to.y + boxHeight / 2 };
  let path = `M${start.x},${start.y}`;
  let at = start;
  for (const next of [...(back ? bends.toReversed() : bends), end]) {
    const half = (at.x + next.x) / 2;
    path += ` C${half},${at.y} ${half},${next.y} ${next.x},${next.y}`;
    at = next;
  }
  return path;
}
