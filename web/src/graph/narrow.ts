// The part of the graph that the user asked for.
import { kindWords, neighbours, netOf, referred, referrers, type Box, type Net } from "./net.ts";

export interface Narrowing {
  text: string;
  hidden: ReadonlySet<string>; // kinds
  problems: boolean; // only what has one, and what refers to that
  around: { id: string; depth: number } | null; // only what leads there and where that leads
}

export const wide: Narrowing = { text: "", hidden: new Set(), problems: false, around: null };

/** How many references away "all" is. */
export const noLimit = Infinity;

export const troubled = (box: Box) => box.findings > 0 || box.state === "missing" || box.state === "presumed";

export function narrow(net: Net, { text, hidden, problems, around }: Narrowing): Net {
  const center = around && net.boxes.get(around.id);
  let kept: readonly Box[] = around && center ? reach(net, center, around.depth) : [...net.boxes.values()];
  const wanted = text.trim().toLowerCase();
  if (wanted !== "") kept = those(kept, (box) => matches(box, wanted), (box) => neighbours(net, box.id));
  if (problems) kept = those(kept, troubled, (box) => referrers(net, box.id));
  return cut(net, new Set(kept.filter((box) => !hidden.has(box.kind))));
}

/** Those that are wanted, and what is beside them. */
function those(among: readonly Box[], wanted: (box: Box) => boolean, beside: (box: Box) => Box[]): Box[] {
  const kept = new Set(among.filter(wanted).flatMap((box) => [box, ...beside(box)]));
  return among.filter((box) => kept.has(box));
}

const matches = (box: Box, wanted: string) => box.name.toLowerCase().includes(wanted) || kindWords(box.kind).includes(wanted) || box.kind.includes(wanted);

function cut(net: Net, kept: ReadonlySet<Box>): Net {
  if (kept.size === net.boxes.size) return net;
  return netOf(
    [...net.boxes.values()].filter((box) => kept.has(box)),
    net.arrows.map((a) => ({ from: a.from.id, to: a.to.id, edges: a.edges })),
  );
}

/** A box with what it leads to, and what leads to it. */
function reach(net: Net, box: Box, depth: number): Box[] {
  return [...new Set([...walk(box, depth, ({ id }) => referred(net, id)), ...walk(box, depth, ({ id }) => referrers(net, id))])];
}

function walk(from: Box, depth: number, next: (box: Box) => Box[]): Set<Box> {
  const seen = new Set([from]);
  for (let edge = [from], far = 0; edge.length > 0 && far < depth; far++) {
    edge = edge.flatMap(next).filter((box) => !seen.has(box) && seen.add(box));
  }
  return seen;
}
