// The request in the bar: what happens to it, and the holes of the configuration, kept up to date.
import { computed, effect, signal } from "@preact/signals";
import { engine } from "../engine/engine.ts";
import type { Asked, Files, FollowAnswer, HolesAnswer, Location, Step } from "../engine/shapes.ts";
import { keepAsking, targets, unreadableIn } from "../project/lint.ts";
import { active, alike, asked, filesOf, nothingAsked, reveal, type Side } from "../project/project.ts";

/** An answer, and the side of the project that it is about. */
export interface Followed {
  side: Side;
  answer: FollowAnswer;
}

const side = computed<Side>(() => active.value.side);

/** While a text cannot be parsed, it is the last answer before. */
export const followed = signal<Followed | null>(null);
export const stale = signal(false);
export const holes = signal<HolesAnswer | null>(null);

export const typed = computed(() => asked.value.text.trim() !== "");

/** Reports whether the request does not get to a step. */
export const unreached = (step: Step) => step.state === "unreached";

export function change(part: Partial<Asked>): void {
  const changed = { ...asked.peek(), ...part };
  asked.value = alike(changed, nothingAsked) ? nothingAsked : changed;
}

/** Follows the request in the bar until the returned function is called. Without one, nothing is asked, unless the bar needs the listeners. */
export function follow(always = false): () => void {
  return keepAsking(
    "follow",
    () => (always || typed.value ? { files: filesOf(side.value), targets: targets(), asked: asked.value } : null),
    (answer) => {
      stale.value = unreadableIn(side.peek()).length > 0 && followed.peek() !== null;
      if (!stale.peek()) followed.value = answer && { side: side.peek(), answer };
    },
  );
}

const pause = 1000; // milliseconds without a change of the texts, because it takes long to find holes

/** Looks for holes until the returned function is called. */
export function watchHoles(): () => void {
  const settled = signal<Files>(filesOf(side.peek()));
  const endSettling = effect(() => {
    const files = filesOf(side.value);
    const timer = setTimeout(() => (settled.value = files), pause);
    return () => clearTimeout(timer);
  });
  const wanted = () => engine.kind.value === "larger" && followed.value?.answer.target.startsWith("envoy:");
  const endAsking = keepAsking(
    "holes",
    () => (wanted() ? { files: settled.value } : null),
    (answer) => (holes.value = answer),
  );
  return () => {
    endSettling();
    endAsking();
  };
}

/** Shows a location in the text. */
export function show(location: Location): void {
  if (followed.value) reveal(followed.value.side, location);
}
