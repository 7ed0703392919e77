// What candidates out in the picture.
import { computed, signal } from "@preact/signals";

/** What the pointer is over, and what has the keyboard's focus: its neighbours light up with it. */
export const hovered = signal<string | null>(null);
export const focused = signal<string | null>(null);
export const highlighted = computed(() => hovered.value ?? focused.value);

/** The box that the Tab key leads to; the first one where there is none such. */
export const tabStop = signal<string | null>(null);
