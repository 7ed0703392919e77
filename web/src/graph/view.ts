// The visible part of the picture: zooming and moving by mouse, touch, buttons and keys.
import { signal } from "@preact/signals";
import { select } from "d3-selection";
import { zoom, zoomIdentity, type ZoomTransform } from "d3-zoom";
import { boxHeight, boxWidth, type Arrangement, type Point } from "./arrange.ts";

export interface Region {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** The part that is drawn: more than is visible, so that small moves redraw nothing. Zoomed out, everything is drawn, but without text. */
export interface Drawn extends Region {
  far: boolean;
}

const farBelow = 0.4;
const readable = 0.6;
const step = 1.4;
const edge = 24; // pixels of the window to keep free

const everything: Drawn = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity, far: true };

export class View {
  readonly drawn = signal<Drawn>({ left: 0, top: 0, right: 0, bottom: 0, far: false });
  /** Reports whether the panel is hidden: it has no size then, and nothing can be placed in it. */
  readonly hidden = signal(true);
  private readonly svg: SVGSVGElement;
  private readonly behaviour = zoom<SVGSVGElement, unknown>().scaleExtent([0.01, 3]).duration(0);
  private transform: ZoomTransform = zoomIdentity;
  private width = 0;
  private height = 0;

  constructor(svg: SVGSVGElement, content: SVGGElement) {
    this.svg = svg;
    this.behaviour.on("zoom", ({ transform }: { transform: ZoomTransform }) => {
      this.transform = transform;
      content.setAttribute("transform", transform.toString());
      this.draw();
    });
    // The size comes from the layout, not from attributes, which d3 would look for.
    this.behaviour.extent(() => [[0, 0], [this.width, this.height]]);
    select(svg).call(this.behaviour).on("dblclick.zoom", null);
  }

  resized(): void {
    ({ clientWidth: this.width, clientHeight: this.height } = this.svg);
    this.hidden.value = this.width === 0;
    this.draw();
  }

  /** Draws what is visible and not yet drawn. */
  draw(): void {
    if (this.hidden.peek()) return;
    const { drawn } = this;
    const was = drawn.peek();
    if (this.transform.k < farBelow) {
      if (!was.far) drawn.value = everything;
      return;
    }
    const seen = this.seen();
    const much = was.right - was.left > 4 * (seen.right - seen.left); // far more is drawn than is seen
    if (!was.far && !much && seen.left >= was.left && seen.top >= was.top && seen.right <= was.right && seen.bottom <= was.bottom) return;
    const [x, y] = [(seen.right - seen.left) / 2, (seen.bottom - seen.top) / 2];
    drawn.value = { left: seen.left - x, top: seen.top - y, right: seen.right + x, bottom: seen.bottom + y, far: false };
  }

  private seen(): Region {
    const [left, top] = this.transform.invert([0, 0]);
    const [right, bottom] = this.transform.invert([this.width, this.height]);
    return { left, top, right, bottom };
  }

  private to(transform: ZoomTransform): void {
    select(this.svg).call(this.behaviour.transform, transform);
  }

  zoom(by: 1 | -1): void {
    select(this.svg).call(this.behaviour.scaleBy, step ** by);
  }

  /** Shows the whole picture. */
  fit(at: Arrangement): void {
    const k = this.fitting(at);
    this.to(zoomIdentity.translate((this.width - at.width * k) / 2, (this.height - at.height * k) / 2).scale(k));
  }

  /** Shows the whole picture if it is readable at that size, else the part around a box. */
  start(at: Arrangement, box: Point | undefined): void {
    if (this.fitting(at) >= readable || !box) {
      this.fit(at);
      return;
    }
    const k = Math.min(1, Math.max(readable, this.width / at.width));
    const beyond = Math.max(0, (box.x + boxWidth) * k + edge - this.width); // so that it is visible with what is to its left
    this.to(zoomIdentity.translate(-beyond, this.height / 2 - box.y * k).scale(k));
  }

  private fitting(at: Arrangement): number {
    return Math.min(1, this.width / Math.max(1, at.width), this.height / Math.max(1, at.height));
  }

  /** Moves the picture no further than needed to show a box. */
  bring({ x, y }: Point): void {
    const { k } = this.transform;
    const [left, top] = this.transform.apply([x, y]);
    const [right, bottom] = [left + boxWidth * k, top + boxHeight * k];
    const dx = Math.max(0, edge - left) || Math.min(0, this.width - edge - right);
    const dy = Math.max(0, edge - top) || Math.min(0, this.height - edge - bottom);
    if (dx !== 0 || dy !== 0) this.move(dx / k, dy / k);
  }

  /** Moves the content, in its own units. */
  move(dx: number, dy: number): void {
    this.to(this.transform.translate(dx, dy));
  }

  /** Keeps the box in the middle in its place when the layout changes. */
  keep(before: Arrangement, after: Arrangement): void {
    const { left, top, right, bottom } = this.seen();
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    let near = Infinity;
    let moved: Point = { x: 0, y: 0 };
    for (const [id, was] of before.boxes) {
      const is = after.boxes.get(id) ?? after.boxes.get(id.replace(/^folded:/, ""));
      const far = Math.hypot(was.x + boxWidth / 2 - x, was.y + boxHeight / 2 - y);
      if (is && far < near) [near, moved] = [far, { x: was.x - is.x, y: was.y - is.y }];
    }
    this.move(moved.x, moved.y);
  }
}
