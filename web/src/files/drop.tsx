// Files and folders can be dropped, and files pasted, anywhere on the page.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { active, comparing, type Side } from "../project/project.ts";
import { notify } from "../ui/notice.ts";
import { dropped } from "./entries.ts";
import { pasted } from "./paste.ts";
import { limits, importFiles } from "./import.ts";
import "./drop.css";

const withFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;

export function DropTarget() {
  const dragging = useSignal(false);
  useEffect(() => {
    // Before the editor, which would insert the file at the pointer.
    const over = (event: DragEvent) => {
      if (!withFiles(event)) return;
      event.preventDefault();
      event.stopPropagation();
      dragging.value = true;
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) dragging.value = false;
    };
    const drop = (event: DragEvent) => {
      if (!withFiles(event) || !event.dataTransfer) return;
      event.preventDefault();
      event.stopPropagation();
      dragging.value = false;
      void receive(event.dataTransfer, sideUnder(event));
    };
    addEventListener("dragenter", over, true);
    addEventListener("dragover", over, true);
    addEventListener("dragleave", leave, true);
    addEventListener("drop", drop, true);
    addEventListener("paste", pasted, true);
    return () => {
      removeEventListener("dragenter", over, true);
      removeEventListener("dragover", over, true);
      removeEventListener("dragleave", leave, true);
      removeEventListener("drop", drop, true);
      removeEventListener("paste", pasted, true);
    };
  }, []);
  if (!dragging.value) return null;
  const zones: { side: Side; words: string }[] = comparing.value
    ? [
        { side: "before", words: "Drop the current configuration here" },
        { side: "after", words: "Drop the new configuration here" },
      ]
    : [{ side: "after", words: "Drop files or folders to open them" }];
  return (
    <div class="drop" aria-hidden="true">
      {zones.map(({ side, words }) => (
        <div class="zone" data-side={side} key={side}>
          <strong>{words}</strong>
          <span class="muted">Files stay in your browser. At most {limits}.</span>
        </div>
      ))}
    </div>
  );
}

function sideUnder(event: DragEvent): Side {
  const zone = event.target instanceof Element ? event.target.closest<HTMLElement>(".zone") : null;
  const side = zone?.dataset.side;
  return side === "before" || side === "after" ? side : active.peek().side;
}

async function receive(data: DataTransfer, side: Side): Promise<void> {
  try {
    await importFiles(await dropped(data), side);
  } catch {
    notify("The dropped files could not be read. Try Open files… instead.");
  }
}
