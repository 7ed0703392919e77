// The places of boxes and arrows in the picture. A worker computes them, so that the page never waits.
import type { Model } from "./model.ts";
import { ranks } from "./ranks.ts";

export const boxWidth = 184;
export const boxHeight = 44;

export interface Point {
  x: number;
  y: number;
}

export interface Frame extends Point {
  snapshot: string;
  width: number;
  height: number;
}

export interface Arrangement {
  boxes: Map<string, Point>; // the upper left corner
  arrows: Map<string, Point[]>; // its bends
  frames: Frame[];
  width: number;
  height: number;
}

export interface Group {
  snapshot: string;
  boxes: { id: string; rank: number }[];
  arrows: { id: string; from: string; to: string }[];
}

/** The input of the worker: the snapshots, which have no arrows between them. */
export type Sketch = Group[];

export function sketch(model: Model): Sketch {
  const rank = ranks(model);
  const arrows = Map.groupBy(model.arrows, (a) => a.from.snapshot);
  return [...Map.groupBy(model.boxes.values(), (box) => box.snapshot)].map(([snapshot, boxes]) => ({
    snapshot,
    boxes: boxes.map(({ id }) => ({ id, rank: rank.get(id) ?? 0 })),
    arrows: (arrows.get(snapshot) ?? []).map(({ id, from, to }) => ({ id, from: from.id, to: to.id })),
  }));
}

/** The answer of the worker. */
export type Answer = Arrangement | { failed: string };

let worker: Worker | undefined;
let waiting: (() => void) | undefined;
let busy = false;

/** Lays out a model. While the worker is busy, only the latest request waits. */
export function arrange(model: Model, take: (answer: Answer) => void): void {
  const start = () => {
    worker ??= new Worker(new URL("./arrange.worker.ts", import.meta.url), { type: "module" });
    const done = (answer: Answer) => {
      busy = false;
      take(answer);
      waiting?.();
    };
    worker.onmessage = (event: MessageEvent<Answer>) => done(event.data);
    worker.onerror = (event) => done({ failed: event.message });
    worker.postMessage(sketch(model));
    busy = true;
    waiting = undefined;
  };
  if (busy) waiting = start;
  else start();
}
