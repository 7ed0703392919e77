// A reload loses nothing: the project is kept in sessionStorage, which only this tab can read and which ends with it. Configurations contain
// secrets, so they are not stored anywhere else.
import { effect } from "@preact/signals";
import { opening } from "../examples/opening.ts";
import { pristine, setPristine } from "../share/origin.ts";
import { capture, checked, restore } from "../share/state.ts";
import { texts } from "./project.ts";

const key = "xdslint:project";
const pause = 500; // milliseconds between the last change and the copy

let stale = false; // whether the copy is out of date

export function restoreSession(): boolean {
  try {
    const kept = sessionStorage.getItem(key);
    if (kept === null) return false;
    const project = JSON.parse(kept);
    restore(checked(project));
    if (project.example === true) setPristine();
    return true;
  } catch {
    return false; // storage is forbidden, or another version wrote it
  }
}

export function keepSession(): void {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let first = true;
  effect(() => {
    capture();
    if (first) {
      first = false;
      return;
    }
    stale = true;
    clearTimeout(waiting);
    waiting = setTimeout(keep, pause);
  });
  addEventListener("pagehide", keep);
  addEventListener("beforeunload", (event) => {
    keep();
    if (stale) event.preventDefault(); // the browser asks whether to leave
  });
}

function keep(): void {
  if (!stale) return;
  try {
    if (texts.peek() === opening) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify({ ...capture(), example: pristine() }));
    stale = false;
  } catch {
    // forbidden, or more than fits: leaving the page asks first
  }
}
