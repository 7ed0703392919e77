// The shown panel, and on a narrow screen whether the panel or the text is shown.
import { computed, effect, signal } from "@preact/signals";
import { revealed } from "../project/project.ts";

export const panels = ["problems", "graph", "request", "compare"] as const;
export type Panel = (typeof panels)[number];

export const panel = signal<Panel>("problems");

const query = matchMedia("(max-width: 759px)");

/** Reports whether the screen has room for only one view. */
export const narrow = signal(query.matches);
query.addEventListener("change", () => (narrow.value = query.matches));

const textShown = signal(true);

/** The view of a tab. */
export type View = "text" | Panel;

/** The view on a narrow screen. */
export const view = computed<View>(() => (textShown.value ? "text" : panel.value));

export function show(chosen: View): void {
  textShown.value = chosen === "text";
  if (chosen !== "text") panel.value = chosen;
}

// A jump to a location shows the text.
effect(() => {
  if (revealed.value) textShown.value = true;
});
