// The origin of the open texts. A link or an example replaces all texts, and that can be undone.
import { batch, computed, signal } from "@preact/signals";
import { opening } from "../examples/opening.ts";
import type { Example } from "../examples/example.ts";
import { find, texts, type Text } from "../project/project.ts";
import { capture, restore, type Project } from "./state.ts";

export type Origin = { kind: "example"; example: Example; fixed: boolean } | { kind: "link"; note: string } | { kind: "failure"; message: string };

const shown = signal<{ by: Origin; of: readonly Text[] } | null>(null);

/** The origin to show; null once all of its texts are closed. */
export const origin = computed(() => {
  const now = shown.value;
  return now && (now.of.length === 0 || now.of.some(find)) ? now.by : null;
});

export const setOrigin = (by: Origin) => (shown.value = { by, of: texts.peek() });
export const dismiss = () => (shown.value = null);
export const showError = (error: unknown) => (shown.value = { by: { kind: "failure", message: error instanceof Error ? error.message : String(error) }, of: [] });

/** The user's own texts before another project replaced them, if any. */
export const previous = signal<Project | null>(null);

// Examples that have not been edited. They need not be kept.
const untouched = new WeakSet<readonly Text[]>([opening]);

/** Reports whether the open texts are an unedited example. */
export const pristine = () => untouched.has(texts.peek());

/** Marks the open texts as an unedited example. */
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
