// Custom rules are those of a configuration. The engine knows them only together with it.
import { signal } from "@preact/signals";
import { about } from "../engine/about.ts";
import type { Files } from "../engine/shapes.ts";
import { settingsName } from "../project/project.ts";

/** The custom rule whose page is shown, and the texts that define it. */
export const shownRule = signal<{ rule: string; files: Files } | null>(null);

export const isCustom = (rule: string) => about.value !== null && !about.value.rules.some(({ id }) => id === rule);

/** The texts that define a rule; none for a built-in one. */
export const settingsIn = (rule: string, texts: Files): Files =>
  isCustom(rule) ? Object.fromEntries(Object.entries(texts).filter(([name]) => name.split("/").at(-1) === settingsName)) : {};
