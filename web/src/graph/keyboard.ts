// The box that an arrow key moves to: right to a reference, left to a referrer, up and down in the column.
import type { Point } from "./arrange.ts";
import { referred, referrers, type Box } from "./model.ts";
import type { Picture } from "./state.ts";

interface Candidate {
  id: string;
  at: Point;
}

export function step({ model, at }: Picture, from: string | null, key: string): Candidate | undefined {
  const start = from === null ? undefined : at.boxes.get(from);
  if (from === null || !start) return undefined;
  const candidates = (boxes: Iterable<Box>) => [...boxes].flatMap(({ id }): Candidate[] => (at.boxes.has(id) ? [{ id, at: at.boxes.get(id) ?? start }] : []));
  const nearest = (all: Candidate[]) => all.reduce<Candidate | undefined>((best, s) => (best && Math.abs(best.at.y - start.y) <= Math.abs(s.at.y - start.y) ? best : s), undefined);
  const column = () => candidates(model.boxes.values()).filter((s) => Math.abs(s.at.x - start.x) < 1);
  switch (key) {
    case "ArrowRight":
      return nearest(candidates(referred(model, from)));
    case "ArrowLeft":
      return nearest(candidates(referrers(model, from)));
    case "ArrowDown":
      return nearest(column().filter((s) => s.at.y > start.y));
    case "ArrowUp":
      return nearest(column().filter((s) => s.at.y < start.y));
  }
  return undefined;
}
