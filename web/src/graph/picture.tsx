// The picture: boxes and arrows in an SVG that can be zoomed and moved.
import { signal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { boxHeight, boxWidth } from "./arrange.ts";
import { Content } from "./content.tsx";
import { hasProblem } from "./filter.ts";
import { focused, highlighted, hovered, tabStop } from "./focus.ts";
import { Highlights } from "./highlights.tsx";
import { choose, current, picture, showArrow, way, type Picture } from "./state.ts";
import { step } from "./keyboard.ts";
import { View } from "./view.ts";

/** The view of the picture on the page, for the buttons around it. */
export const view = signal<View | null>(null);

export function PictureView() {
  const svg = useRef<SVGSVGElement>(null);
  const content = useRef<SVGGElement>(null);
  useEffect(() => {
    if (!svg.current || !content.current) return;
    const made = new View(svg.current, content.current);
    const watch = new ResizeObserver(() => made.resized());
    watch.observe(svg.current);
    view.value = made;
    return () => {
      watch.disconnect();
      view.value = hovered.value = focused.value = null;
    };
  }, []);
  useSignalEffect(() => void svg.current?.classList.toggle("dimmed", highlighted.value !== null || way.value.boxes.size > 0));
  useFollowing();
  return (
    <svg
      ref={svg}
      class="picture"
      role="group"
      aria-label="Graph. Arrow keys move between boxes, Enter shows the box in the text, plus and minus zoom, 0 shows everything."
      onClick={(e) => press(e.target)}
      onKeyDown={(e) => type(e, svg.current)}
      onPointerOver={(e) => (hovered.value = idOf(e.target))}
      onPointerLeave={() => (hovered.value = null)}
      onFocusIn={(e) => (focused.value = idOf(e.target))}
      onFocusOut={() => (focused.value = null)}
    >
      <defs>
        <clipPath id="within-a-box">
          <rect width={boxWidth - 8} height={boxHeight} />
        </clipPath>
        {["plain", "missing", "presumed", "highlighted", "lit"].map((of) => (
          <marker key={of} id={`tip-${of}`} class={`tip ${of}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">
            <path d="M0,0 L8,4 L0,8 z" />
          </marker>
        ))}
      </defs>
      <g ref={content}>
        {view.value && <Content view={view.value} />}
        <Highlights />
      </g>
    </svg>
  );
}

/** Moves the view when the picture or the cursor in the text changes. */
function useFollowing(): void {
  const before = useRef<Picture | null>(null);
  useSignalEffect(() => {
    const now = picture.value;
    if (!now || !view.value || view.value.hidden.value) return;
    const was = before.current;
    before.current = now;
    if (was?.at === now.at) return;
    if (was && was.filter === now.filter) view.value.keep(was.at, now.at);
    else view.value.start(now.at, startOf(now));
    view.value.draw();
  });
  const last = useRef<string | undefined>(undefined);
  useSignalEffect(() => {
    const [id] = current.value.boxes;
    const moved = last.current !== undefined && last.current !== id;
    last.current = id ?? last.current;
    if (!moved) return;
    const at = id === undefined ? undefined : picture.peek()?.at.boxes.get(id);
    if (at && !view.peek()?.hidden.peek()) view.peek()?.bring(at);
  });
}

/** The box to show first: one with a problem, else the first. */
function startOf({ model, at }: Picture) {
  const boxes = [...model.boxes.values()];
  const first = boxes.find((box) => box.severity === "error" || box.state === "missing") ?? boxes.find(hasProblem) ?? boxes[0];
  return first && at.boxes.get(first.id);
}

const closest = (target: EventTarget | null, what: string) => (target instanceof Element ? (target.closest(what) as SVGElement | null) : null);
const idOf = (target: EventTarget | null) => closest(target, "[data-box]")?.dataset.box ?? null;

function press(target: EventTarget | null): void {
  const model = picture.value?.model;
  if (!model) return;
  const box = model.boxes.get(idOf(target) ?? "");
  const arrow = model.arrows.find((a) => a.id === closest(target, "[data-arrow]")?.dataset.arrow);
  if (box) {
    tabStop.value = box.id;
    choose(model, box);
  } else if (arrow) showArrow(arrow);
}

function type(event: KeyboardEvent, svg: SVGSVGElement | null): void {
  const shown = picture.value;
  if (!shown || event.ctrlKey || event.metaKey || event.altKey) return;
  const { key } = event;
  const to = step(shown, idOf(event.target), key);
  if (to) {
    tabStop.value = to.id;
    view.value?.bring(to.at);
    // The content is redrawn before the browser paints, and the box can only be focused after that.
    requestAnimationFrame(() => svg?.querySelector<SVGElement>(`[data-box="${CSS.escape(to.id)}"]`)?.focus({ preventScroll: true }));
  } else if (key === "Enter" || key === " ") press(event.target);
  else if (key === "+" || key === "=") view.value?.zoom(1);
  else if (key === "-") view.value?.zoom(-1);
  else if (key === "0") view.value?.fit(shown.at);
  else return;
  event.preventDefault();
}
