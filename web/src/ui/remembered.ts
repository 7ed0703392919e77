// Settings of the interface that are kept between visits. Texts never are.
import { effect, signal, type Signal } from "@preact/signals";

/** A signal that is stored in localStorage, if the browser allows it. */
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
