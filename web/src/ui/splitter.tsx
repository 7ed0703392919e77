// The splitter between text and panel, for pointer and keyboard.
import { useSignal } from "@preact/signals";
import { remembered } from "./remembered.ts";

const least = 20;
const most = 80;
const start = 56;

const kept = remembered("split", String(start));

/** The width of the text in percent. */
export function split(): number {
  const percent = Number(kept.value);
  return percent >= least && percent <= most ? percent : start;
}

const move = (percent: number) => (kept.value = String(Math.round(Math.min(most, Math.max(least, percent)))));

function onKeyDown(event: KeyboardEvent): void {
  const to = { ArrowLeft: split() - 2, ArrowRight: split() + 2, Home: least, End: most }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  move(to);
}

export function Splitter() {
  const dragged = useSignal(false);
  return (
    <div
      class={dragged.value ? "splitter dragged" : "splitter"}
      role="separator"
      tabIndex={0}
      aria-label="Width of the text"
      aria-orientation="vertical"
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={split()}
      aria-valuetext={`${split()} percent`}
      onKeyDown={onKeyDown}
      onDblClick={() => move(start)}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        dragged.value = true;
      }}
      onPointerMove={(event) => {
        if (dragged.value) move((100 * event.clientX) / document.documentElement.clientWidth);
      }}
      onLostPointerCapture={() => (dragged.value = false)}
    />
  );
}
