// The way from the text to the list of problems.
import { signal } from "@preact/signals";
import { show } from "../ui/panels.ts";

/** Set while the list is to take the focus as soon as it is there. */
export const listWanted = signal(false);

export function showList(): boolean {
  show("problems");
  listWanted.value = true;
  return true;
}
