// The two snapshots of a comparison: the texts of the project that stand before, and those that stand after.
import { batch, computed } from "@preact/signals";
import type { Files, Location, Operations } from "../engine/shapes.ts";
import { troubles } from "../project/lint.ts";
import { active, filesOf, settingsName, texts, transport, versions, type Side } from "../project/project.ts";

export const filled = (side: Side) => Object.keys(filesOf(side)).some((name) => name !== settingsName);

/** The side in which nothing stands, if there is one. */
export const empty = computed(() => (["before", "after"] as const).find((side) => !filled(side)));

/** The present texts are what the proxies have; what they are to get is made of them from now on. */
export function comparePresent(): void {
  const after = texts.value.filter((t) => t.side === "after");
  texts.value = [...after.map((t) => ({ ...t, side: "before" as const })), ...after];
}

/** Forgets what the proxies have. */
export function stop(): void {
  batch(() => {
    const kept = texts.value.filter((t) => t.side === "after");
    const { side, name } = active.value;
    if (side === "before") active.value = { side: "after", name: kept.find((t) => t.name === name)?.name ?? kept[0]?.name ?? "" };
    texts.value = kept;
  });
}

/** Looks at the way back. */
export function swap(): void {
  const other = { before: "after", after: "before" } as const;
  batch(() => {
    texts.value = texts.value.map((t) => ({ ...t, side: other[t.side] }));
    active.value = { ...active.value, side: other[active.value.side] };
  });
}

/** What to ask the engine; null where one of the sides is empty, or has killed the engine already. */
export function question(): Operations["plan"]["request"] | null {
  if (deadly.value || empty.value) return null;
  return { before: folders.before.value, files: folders.after.value, transport: transport.value, versions: versions.value };
}

const deadly = computed(() => troubles.value.some((t) => t.operation === "lint" && t.crashed));

// A finding names only a file, and both sides may have one of the same name. So each side goes to the engine as a folder of its own.
const folder = (side: Side) => computed((): Files => Object.fromEntries(Object.entries(filesOf(side)).map(([name, text]) => [`${side}/${name}`, text])));
const folders = { before: folder("before"), after: folder("after") };

/** Where in the project a location of the engine's answer is. */
export function placed(location: Location): { side: Side; location: Location } {
  const side = location.file.startsWith("before/") ? "before" : "after";
  return { side, location: { ...location, file: location.file.slice(side.length + 1) } };
}
