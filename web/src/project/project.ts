// The project: the open texts, the shown one and the target. Everything else on the page is derived from it.
import { batch, computed, signal } from "@preact/signals";
import type { Asked, Files, Location } from "../engine/shapes.ts";

/** The linted texts are "after". In a comparison, the current configuration of the proxies is "before". */
export type Side = "before" | "after";

export interface Place {
  side: Side;
  name: string;
}

export interface Text extends Place {
  text: string;
}

/** The name of a new text. */
export const untitled = "envoy.yaml";

/** The name of the configuration. */
export const settingsName = ".xdslint.yaml";

export const texts = signal<readonly Text[]>([]);
export const active = signal<Place>({ side: "after", name: "" });
/** The target; empty for the engine's default. */
export const target = signal("");
/** How a comparison's push is sent: the transport, and how versions are given; empty: the engine's defaults. */
export const transport = signal("");
export const versions = signal("");
/** The request that is followed. */
export const nothingAsked: Asked = { text: "", listener: "", sni: "", alpn: "", certificate: "", source: "" };
export const asked = signal(nothingAsked);

export const comparing = computed(() => texts.value.some((t) => t.side === "before"));

/** A location to show. The editor reacts to each new value. */
export const revealed = signal<{ side: Side; location: Location } | null>(null);

/** The line of the cursor, from 1. */
export const cursor = signal<{ place: Place; line: number } | null>(null);

export const same = (a: Place, b: Place) => a.side === b.side && a.name === b.name;
export const find = (place: Place) => texts.value.find((t) => same(t, place));

/** Reports whether two objects are shallowly equal. */
export function alike(a: object | null | undefined, b: object | null | undefined): boolean {
  if (a === b) return true;
  if (!a || !b) return false;
  const [x, y] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return x.size === y.size && [...x].every(([key, value]) => y.get(key) === value);
}

function filesSignal(side: Side) {
  let files: Files = {};
  return computed(() => {
    const now: Files = Object.fromEntries(texts.value.filter((t) => t.side === side).map((t) => [t.name, t.text]));
    if (!alike(now, files)) files = now;
    return files;
  });
}

const files = { before: filesSignal("before"), after: filesSignal("after") };

/** The texts of a side by their names: the same object as long as none of them changes. */
export const filesOf = (side: Side): Files => files[side].value;

/** Replaces all texts. */
export function open(all: readonly Text[], first?: Place): void {
  batch(() => {
    texts.value = all;
    const shown = (first && all.find((t) => same(t, first))) ?? all.find((t) => t.side === "after") ?? all[0];
    active.value = { side: shown?.side ?? "after", name: shown?.name ?? "" };
  });
}

/** Adds texts; one of the same name is replaced. The first of them is shown. */
export function add(more: readonly Text[]): void {
  const [first] = more;
  if (!first) return;
  const all = new Map([...texts.value, ...more].map((t) => [`${t.side}/${t.name}`, t]));
  batch(() => {
    texts.value = [...all.values()];
    active.value = { side: first.side, name: first.name };
  });
}

export function edit(place: Place, text: string): void {
  texts.value = texts.value.map((t) => (same(t, place) ? { ...t, text } : t));
}

export function rename(place: Place, name: string): void {
  batch(() => {
    texts.value = texts.value.map((t) => (same(t, place) ? { ...t, name } : t));
    if (same(active.value, place)) active.value = { ...place, name };
  });
}

/** Closes a text and shows its neighbour. The last one is replaced by an empty text. */
export function close(place: Place): void {
  const at = texts.value.findIndex((t) => same(t, place));
  if (at < 0) return;
  const rest = texts.value.filter((_, i) => i !== at);
  if (rest.length === 0) rest.push({ side: "after", name: untitled, text: "" });
  const next = rest[Math.min(at, rest.length - 1)];
  batch(() => {
    texts.value = rest;
    if (next && same(active.value, place)) active.value = { side: next.side, name: next.name };
  });
}

/** Shows a location in the editor. */
export function reveal(side: Side, location: Location): void {
  batch(() => {
    if (find({ side, name: location.file })) active.value = { side, name: location.file };
    revealed.value = { side, location };
  });
}
