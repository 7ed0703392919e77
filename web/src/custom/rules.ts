// House rules are those that a configuration brings along: the engine knows them only with their configuration.
import { signal } from "@preact/signals";
import { about } from "../engine/about.ts";
import type { Files } from "../engine/shapes.ts";
import { settingsName } from "../project/project.ts";

/** The house rule whose page is shown, and the texts that it stands in. */
export const shownRule = signal<{ rule: string; files: Files } | null>(null);

export const isCustom = (rule: string) => about.value !== null && !about.value.rules.some(({ id }) => id === rule);

/** Those of the texts that a rule stands in; none if it is built in. */
export const settingsIn = (rule: string, texts: Files): Files =>
  isCustom(rule) ? Object.fromEntries(Object.entries(texts).filter(([name]) => name.split("/").at(-1) === settingsName)) : {};
