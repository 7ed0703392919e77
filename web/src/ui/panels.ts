// Which panel is shown; on a narrow screen, whether that or the text.
import { computed, effect, signal } from "@preact/signals";
import { revealed } from "../project/project.ts";

export const panels = ["problems", "graph", "compare"] as const;
export type Panel = (typeof panels)[number];

export const panel = signal<Panel>("problems");

const query = matchMedia("(max-width: 759px)");

/** Whether the screen has room for one thing only. */
export const narrow = signal(query.matches);
query.addEventListener("change", () => (narrow.value = query.matches));

const textShown = signal(true);

/** What a tab stands for. */
export type View = "text" | Panel;

/** What a narrow screen shows. */
export const view = computed<View>(() => (textShown.value ? "text" : panel.value));

export function show(chosen: View): void {
  textShown.value = chosen === "text";
  if (chosen !== "text") panel.value = chosen;
}

// Who jumps to a place wants to see it.
effect(() => {
  if (revealed.value) textShown.value = true;
});
