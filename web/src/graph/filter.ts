// The part of the graph that the user asked for.
import { kindWords, neighbours, modelOf, referred, referrers, type Box, type Model } from "./model.ts";

export interface Filter {
  text: string;
  hidden: ReadonlySet<string>; // kinds
  problems: boolean; // only boxes with problems and their referrers
  around: { id: string; depth: number } | null; // only boxes connected to this one
}

export const noFilter: Filter = { text: "", hidden: new Set(), problems: false, around: null };

/** The depth of "everything connected". */
export const noLimit = Infinity;

export const hasProblem = (box: Box) => box.findings > 0 || box.state === "missing" || box.state === "presumed";

export function applyFilter(model: Model, { text, hidden, problems, around }: Filter): Model {
  const center = around && model.boxes.get(around.id);
  let kept: readonly Box[] = around && center ? reachable(model, center, around.depth) : [...model.boxes.values()];
  const wanted = text.trim().toLowerCase();
  if (wanted !== "") kept = select(kept, (box) => matches(box, wanted), (box) => neighbours(model, box.id));
  if (problems) kept = select(kept, hasProblem, (box) => referrers(model, box.id));
  return restrictTo(model, new Set(kept.filter((box) => !hidden.has(box.kind))));
}

/** The wanted boxes and their neighbours. */
function select(among: readonly Box[], wanted: (box: Box) => boolean, beside: (box: Box) => Box[]): Box[] {
  const kept = new Set(among.filter(wanted).flatMap((box) => [box, ...beside(box)]));
  return among.filter((box) => kept.has(box));
}

const matches = (box: Box, wanted: string) => box.name.toLowerCase().includes(wanted) || kindWords(box.kind).includes(wanted) || box.kind.includes(wanted);

function restrictTo(model: Model, kept: ReadonlySet<Box>): Model {
  if (kept.size === model.boxes.size) return model;
  return modelOf(
    [...model.boxes.values()].filter((box) => kept.has(box)),
    model.arrows.map((a) => ({ from: a.from.id, to: a.to.id, edges: a.edges })),
  );
}

/** A box with everything that it reaches and everything that reaches it. */
function reachable(model: Model, box: Box, depth: number): Box[] {
  return [...new Set([...walk(box, depth, ({ id }) => referred(model, id)), ...walk(box, depth, ({ id }) => referrers(model, id))])];
}

function walk(from: Box, depth: number, next: (box: Box) => Box[]): Set<Box> {
  const seen = new Set([from]);
  for (let edge = [from], far = 0; edge.length > 0 && far < depth; far++) {
    edge = edge.flatMap(next).filter((box) => !seen.has(box) && seen.add(box));
  }
  return seen;
}
