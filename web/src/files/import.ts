// Imports files into the project, from a dialog, a drop or the clipboard. Skipped files are reported with the reason.
import { batch } from "@preact/signals";
import { loadAbout } from "../engine/about.ts";
import { add, open, texts, type Side, type Text } from "../project/project.ts";
import { pristine } from "../share/origin.ts";
import { notify } from "../ui/notice.ts";

/** A file with its path. found: it is from a folder, which may contain unrelated files. */
export interface PickedFile {
  path: string;
  file: File;
  found: boolean;
}

const mostFiles = 500;
const mostBytes = 20 << 20;

export const limits = `${mostFiles} files and ${mostBytes >> 20} MB`;

/** Opens files as texts of a side. They replace an example that has not been edited. */
export async function importFiles(given: readonly PickedFile[], side: Side): Promise<void> {
  if (given.length === 0) return;
  const wanted = await wantedOf(given);
  if (wanted.length === 0) {
    notify("No file in this folder has a known extension, such as .yaml or .json.");
    return;
  }
  const others = pristine() ? [] : texts.peek().filter((t) => t.side !== side || !wanted.some((w) => w.path === t.name));
  const size = others.reduce((sum, t) => sum + t.text.length, 0) + wanted.reduce((sum, w) => sum + w.file.size, 0);
  const count = others.length + wanted.length;
  if (count > mostFiles || size > mostBytes) {
    const much = count > mostFiles ? `${count} files` : `${Math.ceil(size / (1 << 20))} MB`;
    notify(`Nothing was opened: ${much} in total is more than the limit of ${limits}. Use the command line instead.`);
    return;
  }
  const read = await Promise.all(wanted.map(({ path, file }) => textOf(side, path, file)));
  const taken = read.filter((text) => typeof text !== "string");
  const left = read.filter((text) => typeof text === "string");
  batch(() => {
    if (taken.length > 0 && pristine()) open([]);
    add(taken);
  });
  notify(summary(taken, left));
}

async function wantedOf(given: readonly PickedFile[]): Promise<PickedFile[]> {
  if (!given.some((g) => g.found)) return [...given];
  const { extensions } = await loadAbout();
  const readable = ({ path }: PickedFile) => extensions.some((extension) => path.toLowerCase().endsWith(extension));
  return given.filter((g) => !g.found || readable(g));
}

/** A file as a text, or the reason why it cannot be one. */
async function textOf(side: Side, path: string, file: File): Promise<Text | string> {
  try {
    const text = await file.text();
    return text.includes("\0") ? `${path} is binary` : { side, name: path, text };
  } catch {
    return `${path} could not be read`;
  }
}

function summary(taken: readonly Text[], left: readonly string[]): string {
  const opened = taken.length === 1 ? `Opened ${taken[0]?.name}.` : `Opened ${taken.length} files.`;
  if (left.length === 0) return opened;
  const [first] = left;
  return `${opened} Skipped: ${first}${left.length > 1 ? `, and ${left.length - 1} more` : ""}.`;
}
