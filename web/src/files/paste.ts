// Pasting: files anywhere, text outside of fields, and a fitting name for what is pasted into an empty text.
import { active, add, find, rename, type Place } from "../project/project.ts";
import { freeName, suggestedName } from "./names.ts";
import { importFiles } from "./import.ts";

export function pasted(event: ClipboardEvent): void {
  const data = event.clipboardData;
  if (!data) return;
  const text = data.getData("text/plain");
  if (text === "" && data.files.length > 0) {
    event.preventDefault();
    event.stopPropagation();
    void importFiles(
      [...data.files].map((file) => ({ path: file.name, file, found: false })),
      active.peek().side,
    );
  } else if (text !== "" && !isField(event.target)) {
    const { side } = active.peek();
    add([{ side, name: freeName(side, suggestedName(text)), text }]);
  } else if (text !== "" && find(active.peek())?.text.trim() === "") {
    const place = active.peek();
    setTimeout(() => nameAfter(place)); // once the editor has taken it
  }
}

const isField = (target: EventTarget | null) => target instanceof Element && target.closest("input, textarea, select, dialog, [contenteditable=true]") !== null;

/** Renames JSON that was pasted into a text with a default name. */
function nameAfter(place: Place): void {
  const text = find(place)?.text ?? "";
  const better = suggestedName(text);
  if (text.trim() !== "" && better.endsWith(".json") && /^envoy(-\d+)?\.yaml$/.test(place.name)) rename(place, freeName(place.side, better));
}
