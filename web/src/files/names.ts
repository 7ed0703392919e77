// Names of texts: what a name must be, and finding one that is free.
import { filesOf, texts, untitled, type Side } from "../project/project.ts";

/** Why a text cannot have a name; empty where it can. */
export function wrongName(side: Side, name: string, now: string): string {
  if (name.trim() === "") return "A text needs a name.";
  if (name !== now && Object.hasOwn(filesOf(side), name)) return "Another text already has this name.";
  return "";
}

/** The name itself, or the first of name-2, name-3 … that no text of the side has. */
export function freeName(side: Side, name: string): string {
  const taken = new Set(texts.peek().filter((t) => t.side === side).map((t) => t.name));
  const dot = name.lastIndexOf(".");
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${stem}-${n}${extension}`;
  return free;
}

/** The default name of a pasted text. */
export function suggestedName(text: string): string {
  if (!/^\s*[{[]/.test(text)) return untitled;
  return text.includes("envoy.admin.v3.") || /"configs"\s*:/.test(text) ? "config_dump.json" : "envoy.json";
}
