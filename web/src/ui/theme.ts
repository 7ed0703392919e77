// Dark or light: the system's theme, or the one chosen here.
import { computed, effect, signal } from "@preact/signals";
import { remembered } from "./remembered.ts";

const query = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(query.matches);
query.addEventListener("change", () => (systemDark.value = query.matches));

const chosen = remembered("theme", "system");

export const dark = computed(() => (chosen.value === "system" ? systemDark.value : chosen.value === "dark"));

/** Switches the theme. A choice that equals the system's theme follows the system again. */
export function switchTheme(): void {
  const next = !dark.peek();
  chosen.value = next === systemDark.peek() ? "system" : next ? "dark" : "light";
}

effect(() => {
  document.documentElement.dataset.theme = dark.value ? "dark" : "light";
});
