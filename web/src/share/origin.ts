// Where the open texts came from, and what was open before: a link or an example takes the place of everything, and that can be undone.
import { batch, computed, signal } from "@preact/signals";
import { opening } from "../examples/opening.ts";
import type { Example } from "../examples/example.ts";
import { find, texts, type Text } from "../project/project.ts";
import { capture, restore, type Project } from "./state.ts";

export type Origin = { kind: "example"; example: Example; fixed: boolean } | { kind: "link"; note: string } | { kind: "failure"; message: string };

const told = signal<{ by: Origin; of: readonly Text[] } | null>(null);

/** What is to be said of where the open texts came from; nothing once all of those are closed. */
export const origin = computed(() => {
  const now = told.value;
  return now && (now.of.length === 0 || now.of.some(find)) ? now.by : null;
});

export const setOrigin = (by: Origin) => (told.value = { by, of: texts.peek() });
export const dismiss = () => (told.value = null);
export const showError = (error: unknown) => (told.value = { by: { kind: "failure", message: error instanceof Error ? error.message : String(error) }, of: [] });

/** What somebody had written before another project took its place; null where nobody had. */
export const previous = signal<Project | null>(null);

// Examples in which nothing has been typed: nobody misses them.
const untouched = new WeakSet<readonly Text[]>([opening]);

/** Whether all that is open is an example as it was given. */
export const pristine = () => untouched.has(texts.peek());

/** Says that what is open now is one. */
export const setPristine = () => void untouched.add(texts.peek());

export function replace(project: Project, by: Origin): void {
  batch(() => {
    if (texts.peek().length > 0 && !pristine()) previous.value = capture();
    restore(project);
    setOrigin(by);
  });
  if (by.kind === "example") setPristine();
}

export function restorePrevious(): void {
  const project = previous.peek();
  if (!project) return;
  batch(() => {
    restore(project);
    previous.value = null;
    dismiss();
  });
}

export const showExample = (example: Example, fixed: boolean) => replace((fixed && example.fixed) || example.bad, { kind: "example", example, fixed });
