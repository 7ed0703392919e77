// The browser's own dialogs for opening and saving files.
import type { Side, Text } from "../project/project.ts";
import { importFiles, type PickedFile } from "./import.ts";

export const openFiles = (side: Side) => pick(side, false);
export const openFolder = (side: Side) => pick(side, true);

function pick(side: Side, folder: boolean): void {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.webkitdirectory = folder;
  input.addEventListener("change", () => void importFiles(inFolder([...(input.files ?? [])]), side));
  input.click();
}

// Names are relative to the chosen folder, with which each path begins. Hidden folders are skipped.
function inFolder(files: readonly File[]): PickedFile[] {
  return files.flatMap((file) => {
    const path = file.webkitRelativePath.split("/").slice(1);
    if (path.slice(0, -1).some((folder) => folder.startsWith("."))) return [];
    return [{ path: path.join("/") || file.name, file, found: path.length > 0 }];
  });
}

export function download({ name, text }: Text): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name.split("/").at(-1) || "envoy.yaml";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // long after the browser has begun to read it
}
