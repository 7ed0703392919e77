// A message for the user that needs no answer.
import { signal } from "@preact/signals";

export const notice = signal("");

export const notify = (message: string) => (notice.value = message);
