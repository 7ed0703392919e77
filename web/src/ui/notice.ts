// Something to tell the user that they should not miss, and that is no question.
import { signal } from "@preact/signals";

export const notice = signal("");

export const notify = (message: string) => (notice.value = message);
