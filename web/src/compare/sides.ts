// The two snapshots of a comparison: the "before" and the "after" texts of the project.
import { batch, computed } from "@preact/signals";
import type { Files, Location, Operations } from "../engine/shapes.ts";
import { targets, troubles } from "../project/lint.ts";
import { active, filesOf, settingsName, texts, transport, versions, type Side } from "../project/project.ts";

export const filled = (side: Side) => Object.keys(filesOf(side)).some((name) => name !== settingsName);

/** The side without texts, if any. */
export const empty = computed(() => (["before", "after"] as const).find((side) => !filled(side)));

/** Makes the open texts the current configuration, and a copy of them the new one. */
export function comparePresent(): void {
  const after = texts.value.filter((t) => t.side === "after");
  texts.value = [...after.map((t) => ({ ...t, side: "before" as const })), ...after];
}

/** Closes the texts of "before". */
export function stop(): void {
  batch(() => {
    const kept = texts.value.filter((t) => t.side === "after");
    const { side, name } = active.value;
    if (side === "before") active.value = { side: "after", name: kept.find((t) => t.name === name)?.name ?? kept[0]?.name ?? "" };
    texts.value = kept;
  });
}

/** Swaps the two sides. */
export function swap(): void {
  const other = { before: "after", after: "before" } as const;
  batch(() => {
    texts.value = texts.value.map((t) => ({ ...t, side: other[t.side] }));
    active.value = { ...active.value, side: other[active.value.side] };
  });
}

/** The question for the engine; null if a side is empty or has crashed the engine. */
export function question(): Operations["plan"]["request"] | null {
  if (deadly.value || empty.value) return null;
  return { before: folders.before.value, files: folders.after.value, targets: targets(), transport: transport.value, versions: versions.value };
}

const deadly = computed(() => troubles.value.some((t) => t.operation === "lint" && t.crashed));

// A finding names only a file, and both sides may have one of the same name. So each side goes to the engine as a folder of its own.
const folder = (side: Side) => computed((): Files => Object.fromEntries(Object.entries(filesOf(side)).map(([name, text]) => [`${side}/${name}`, text])));
const folders = { before: folder("before"), after: folder("after") };

/** Converts a location of the engine's answer to one in the project. */
export function placed(location: Location): { side: Side; location: Location } {
  const side = location.file.startsWith("before/") ? "before" : "after";
  return { side, location: { ...location, file: location.file.slice(side.length + 1) } };
}
