// Moves the focus from the text to the list of problems.
import { signal } from "@preact/signals";
import { show } from "../ui/panels.ts";

/** Set until the list is rendered and has taken the focus. */
export const listWanted = signal(false);

export function showList(): boolean {
  show("problems");
  listWanted.value = true;
  return true;
}
