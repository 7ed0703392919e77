// The graph as it is drawn: boxes are names, arrows are references.
import type { Finding, GraphAnswer, GraphEdge, GraphNode, Location, Severity } from "../engine/shapes.ts";

export interface Box extends Omit<GraphNode, "source"> {
  severity: Severity | null; // of the worst finding about it
  findings: number;
  members: readonly Box[]; // the boxes that were folded into this one; empty for a single box
}

/** All references from one box to another. */
export interface Arrow {
  id: string;
  from: Box;
  to: Box;
  edges: readonly GraphEdge[];
}

export interface Model {
  boxes: ReadonlyMap<string, Box>;
  arrows: readonly Arrow[];
  out: ReadonlyMap<string, readonly Arrow[]>; // by the id of the box that they leave
  into: ReadonlyMap<string, readonly Arrow[]>;
}

const ranked: Severity[] = ["error", "warning", "info"];

const worse = (a: Severity | null, b: Severity | null) => ranked.find((s) => s === a || s === b) ?? null;

/** The name of a box in the interface. */
export const kindWords = (kind: string) => kind.replaceAll("_", " ");
export function title(box: Box): string {
  if (box.members.length > 0) return count(box.members.length, kindWords(box.kind));
  return box.name || (box.kind === "bootstrap" && box.snapshot) || "(no name)";
}

/** The words for a state. A resource that is present needs none. */
export const stateWords: Record<Box["state"], string> = {
  present: "",
  inside: "inline",
  missing: "missing",
  presumed: "probably missing",
  open: "not in these texts",
};

/** Everything that a box shows, in words. */
export function words(model: Model, box: Box): string {
  const parts = [box.members.length > 0 ? title(box) : `${kindWords(box.kind)} ${title(box)}`];
  if (stateWords[box.state]) parts.push(stateWords[box.state]);
  if (box.severity) parts.push(count(box.findings, "finding") + `, worst: ${box.severity}`);
  const [by, to] = [referrers(model, box.id), referred(model, box.id)];
  if (by.length > 0) parts.push(`referred to by ${few(by)}`);
  if (to.length > 0) parts.push(`refers to ${few(to)}`);
  return parts.join("; ");
}

const few = (boxes: Box[]) => (boxes.length > 3 ? `${boxes.length} others` : boxes.map(title).join(", "));

export const count = (n: number, what: string) => `${n.toLocaleString("en")} ${n === 1 ? what : `${what}s`}`;

/** A model of boxes and arrows. All references from one box to another become one arrow. */
export function modelOf(boxes: Iterable<Box>, edges: Iterable<{ from: string; to: string; edges: readonly GraphEdge[] }>): Model {
  const byId = new Map<string, Box>();
  for (const box of boxes) byId.set(box.id, box);
  const arrows = new Map<string, Arrow & { edges: GraphEdge[] }>();
  for (const e of edges) {
    const from = byId.get(e.from);
    const to = byId.get(e.to);
    if (!from || !to) continue;
    const id = JSON.stringify([from.id, to.id]);
    const known = arrows.get(id);
    if (known) known.edges.push(...e.edges);
    else arrows.set(id, { id, from, to, edges: [...e.edges] });
  }
  const all = [...arrows.values()];
  return { boxes: byId, arrows: all, out: Map.groupBy(all, (a) => a.from.id), into: Map.groupBy(all, (a) => a.to.id) };
}

/** The engine's graph with the findings about each name. */
export function withFindings(answer: GraphAnswer, findings: readonly Finding[]): Model {
  const about = Map.groupBy(findings, (f) => nameKey(f.resource.kind, f.resource.name));
  const boxes = answer.nodes.map(({ source: _, ...node }): Box => {
    const own = (about.get(nameKey(node.kind, node.name)) ?? []).filter((f) => node.location && within(f.location, node.location));
    return { ...node, findings: own.length, severity: own.reduce<Severity | null>((worst, f) => worse(worst, f.severity), null), members: [] };
  });
  return modelOf(
    boxes,
    answer.edges.map((edge) => ({ from: edge.from, to: edge.to, edges: [edge] })),
  );
}

const nameKey = (kind: string, name: string) => `${kind}/${name}`;

/** Reports whether a location is inside another. A location without a position is the whole file. */
export function within(place: Location, around: Location): boolean {
  if (place.file !== around.file) return false;
  if (!place.start || !around.start || !around.end) return true;
  return around.start.offset <= place.start.offset && place.start.offset <= around.end.offset;
}

/** The location of a name. A name without one is shown at its first reference. */
export const placeOf = (model: Model, box: Box): Location | null => box.location ?? model.into.get(box.id)?.flatMap((a) => a.edges).find((e) => e.location)?.location ?? null;

export const referrers = (model: Model, id: string): Box[] => (model.into.get(id) ?? []).map((a) => a.from);
export const referred = (model: Model, id: string): Box[] => (model.out.get(id) ?? []).map((a) => a.to);
export const neighbours = (model: Model, id: string): Box[] => [...referrers(model, id), ...referred(model, id)];
