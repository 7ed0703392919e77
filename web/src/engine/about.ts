// What the engine says about itself, asked once when it is first needed.
import { signal } from "@preact/signals";
import { engine } from "./engine.ts";
import type { About } from "./shapes.ts";

/** null until the engine has answered. */
export const about = signal<About | null>(null);

let asked: Promise<About> | undefined;

export function loadAbout(): Promise<About> {
  asked ??= engine.ask("about", {});
  asked.then(
    (answer) => (about.value = answer),
    () => (asked = undefined), // so that it can be asked again
  );
  return asked;
}
