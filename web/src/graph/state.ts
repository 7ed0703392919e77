// The panel's state as signals: the engine's graph, with findings, filtered, folded, laid out.
import { computed, effect, signal, untracked } from "@preact/signals";
import type { Files, GraphAnswer, Location } from "../engine/shapes.ts";
import { findings, keepAsking, unreadableIn } from "../project/lint.ts";
import { active, alike, cursor, filesOf, reveal, type Side } from "../project/project.ts";
import { arrange, type Arrangement } from "./arrange.ts";
import { follow as followRequest, followed, unreached } from "../request/state.ts";
import { fold, foldAbove } from "./fold.ts";
import { applyFilter, noFilter, type Filter } from "./filter.ts";
import { withFindings, modelOf, placeOf, within, type Arrow, type Box, type Model } from "./model.ts";

interface Answer {
  side: Side;
  files: Files;
  drawing: GraphAnswer;
}

const side = computed<Side>(() => active.value.side);
const newest = signal<Answer | null>(null);
/** The answer that is shown. While a text cannot be parsed, it is the last one before. */
const answer = signal<Answer | null>(null);
export const stale = signal(false);

export const unreadable = computed(() => unreadableIn(side.value));

function settle(): void {
  const [now, before] = [newest.value, answer.peek()];
  if (!now) return;
  const alsoLinted = alike(now.files, findings.value[now.side]?.texts);
  const replaceable = before?.side !== now.side || !sameKeys(Object.keys(before.files), Object.keys(now.files));
  if (replaceable || (alsoLinted && unreadable.value.length === 0)) answer.value = now;
  if (replaceable || alsoLinted) stale.value = answer.peek() !== now;
}

export const filter = signal<Filter>(noFilter);
/** The folded boxes that the user opened. */
export const opened = signal<ReadonlySet<string> | "all">(new Set());
export const selected = signal<string | null>(null); // the box that was clicked last
export const asList = signal(false);

const empty = modelOf([], []);

/** The model of all texts; null until the engine has answered. */
export const complete = computed(() => answer.value && withFindings(answer.value.drawing, findings.value[answer.value.side]?.diagnostics ?? []));
export const filtered = computed(() => applyFilter(complete.value ?? empty, filter.value));
export const folded = computed(() => (opened.value === "all" ? filtered.value : fold(filtered.value, opened.value)));
export const foldable = computed(() => filtered.value.boxes.size > foldAbove);

/** A model and its layout. It lags behind folded while the worker computes. */
export interface Picture {
  model: Model;
  at: Arrangement;
  filter: Filter; // the filter in use
}

export const picture = signal<Picture | null>(null);
export const failed = signal(""); // the reason why there is no picture

export const changeFilter = (by: Partial<Filter>) => (filter.value = { ...filter.value, ...by });

/** Keeps the panel up to date until the returned function is called. */
export function follow(): () => void {
  const endAsking = keepAsking(
    "graph",
    () => ({ files: filesOf(side.value) }),
    (drawing, request) => (newest.value = drawing && request && { side: side.peek(), files: request.files, drawing }),
  );
  const endSettling = effect(settle);
  const endDrawing = effect(() => {
    const model = folded.value;
    if (complete.value) untracked(() => draw(model));
  });
  const endFollowing = followRequest();
  return () => {
    endFollowing();
    endAsking();
    endSettling();
    endDrawing();
  };
}

function draw(model: Model): void {
  const shown = picture.value;
  if (shown && sameShape(shown.model, model)) {
    picture.value = { model, at: shown.at, filter: filter.value };
    return;
  }
  arrange(model, (at) => {
    const latest = folded.value;
    if (!sameShape(model, latest)) return; // it has changed since
    failed.value = "failed" in at ? at.failed : "";
    if (!("failed" in at)) picture.value = { model: latest, at, filter: filter.value };
  });
}

const sameShape = (a: Model, b: Model) => sameKeys(parts(a), parts(b));
const parts = ({ boxes, arrows }: Model) => [...[...boxes.values()].flatMap((box) => [box.id, box.snapshot]), ...arrows.map((arrow) => arrow.id)];
const sameKeys = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((key, i) => key === b[i]);

/** Shows a location in the text. */
export function show(location: Location | null | undefined): void {
  if (answer.value && location) reveal(answer.value.side, location);
}

/** Handles a click on a box. A folded one opens. */
export function choose(model: Model, box: Box): void {
  if (box.members.length > 0) {
    if (opened.value !== "all") opened.value = new Set([...opened.value, box.id]);
    return;
  }
  selected.value = box.id;
  show(placeOf(model, box));
}

export const showArrow = (arrow: Arrow) => show(arrow.edges.find((e) => e.location)?.location);

/** A part of the picture that is highlighted. */
export interface Marked {
  boxes: ReadonlySet<string>;
  arrows: ReadonlySet<string>;
}

/** The way of the request that is followed: of each step the smallest box around it, and the references between these. */
export const way = computed<Marked>(() => {
  const boxes = new Set<string>();
  const arrows = new Set<string>();
  const model = picture.value?.model;
  const now = followed.value;
  if (!model || !now || now.side !== answer.value?.side) return { boxes, arrows };
  for (const step of now.answer.steps) {
    const box = step.name !== "" && step.location && !unreached(step) && smallestAround(model, step.location);
    if (box) boxes.add(box);
  }
  for (const { id, from, to } of model.arrows) if (boxes.has(from.id) && boxes.has(to.id)) arrows.add(id);
  return { boxes, arrows };
});

function smallestAround(model: Model, place: Location): string | undefined {
  let size = Infinity;
  let smallest: string | undefined;
  for (const box of model.boxes.values()) {
    for (const { location } of box.members.length > 0 ? box.members : [box]) {
      if (!location || !within(place, location)) continue;
      const own = location.start && location.end ? location.end.offset - location.start.offset : Number.MAX_SAFE_INTEGER;
      if (own < size) [size, smallest] = [own, box.id];
    }
  }
  return smallest;
}

/** The boxes and arrows at the cursor: the smallest box around it, and each reference in its line. */
export const current = computed<Marked>(() => {
  const boxes = new Set<string>();
  const arrows = new Set<string>();
  const at = cursor.value;
  const model = picture.value?.model;
  if (!at || !model || at.place.side !== answer.value?.side) return { boxes, arrows };
  const here = (place: Location | null) => (place?.start && place.end && place.file === at.place.name && place.start.line <= at.line && at.line <= place.end.line ? place.end.offset - place.start.offset : Infinity);
  for (const arrow of model.arrows) {
    if (!arrow.edges.some((e) => here(e.location) < Infinity)) continue;
    arrows.add(arrow.id);
    if (!arrow.to.location) boxes.add(arrow.to.id); // it has no location of its own
  }
  let size = Infinity;
  let smallest = "";
  for (const box of model.boxes.values()) {
    const own = Math.min(here(box.location), ...box.members.map((m) => here(m.location)));
    if (own < size) [size, smallest] = [own, box.id];
  }
  if (smallest !== "") boxes.add(smallest);
  return { boxes, arrows };
});
