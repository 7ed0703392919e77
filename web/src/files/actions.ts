// Actions on texts, in the menu and by keyboard.
import { signal } from "@preact/signals";
import configuration from "../../../cmd/xdslint/init.yaml?raw";
import { active, add, close, filesOf, find, open, settingsName, texts, untitled, type Place } from "../project/project.ts";
import type { Item } from "../ui/menu.tsx";
import { freeName } from "./names.ts";
import { download, openFiles, openFolder } from "./pick.ts";

/** The text whose name is being changed. */
export const renaming = signal<Place | null>(null);

export function startRenaming(place: Place): void {
  active.value = place; // the field is at its tab
  renaming.value = place;
}

export function newText(): void {
  const { side } = active.peek();
  add([{ side, name: freeName(side, untitled), text: "" }]);
}

/** What the menu offers now. */
export function actions(): Item[] {
  const { side } = active.value;
  const shown = find(active.value);
  return [
    { label: "Open files…", choose: () => openFiles(side) },
    { label: "Open folder…", choose: () => openFolder(side) },
    { label: "New text", choose: newText },
    ...(settingsName in filesOf("after") ? [] : [{ label: `New ${settingsName}`, choose: () => add([{ side: "after", name: settingsName, text: configuration }]) }]),
    ...(shown
      ? [
          { label: `Rename ${shown.name}…`, keys: "F2", choose: () => startRenaming(shown) },
          { label: `Download ${shown.name}`, choose: () => download(shown) },
          { label: `Close ${shown.name}`, keys: "Del", choose: () => close(shown) },
        ]
      : []),
    ...(texts.value.length > 1 ? [{ label: "Close all texts", choose: () => open([{ side: "after", name: untitled, text: "" }]) }] : []),
  ];
}
