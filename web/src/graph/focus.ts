// What is highlighted in the picture.
import { computed, signal } from "@preact/signals";

/** The box under the pointer and the one with the keyboard focus. Its neighbours are highlighted with it. */
export const hovered = signal<string | null>(null);
export const focused = signal<string | null>(null);
export const highlighted = computed(() => hovered.value ?? focused.value);

/** The box that the Tab key reaches. Without one, it is the first. */
export const tabStop = signal<string | null>(null);
