// What the page keeps from one visit to the next: how it looks, never what is written in it.
import { effect, signal, type Signal } from "@preact/signals";

/** A signal that is kept in localStorage, where the browser lets us. */
export function remembered(name: string, otherwise: string): Signal<string> {
  const key = `xdslint:${name}`;
  const value = signal(otherwise);
  try {
    value.value = localStorage.getItem(key) ?? otherwise;
  } catch {
    return value; // storage is forbidden: the page works without
  }
  effect(() => {
    try {
      localStorage.setItem(key, value.value);
    } catch {
      // forbidden, or full
    }
  });
  return value;
}
