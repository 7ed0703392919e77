// The files that were dropped on the page, also those in folders.
import type { PickedFile } from "./import.ts";

// The limit for a folder that was not meant, such as a home directory.
const mostEntries = 20_000;

/** Must be called during the event, since the browser clears the data afterwards. */
export function dropped(data: DataTransfer): Promise<PickedFile[]> {
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const [only] = entries;
  return entries.length === 1 && only && isFolder(only) ? below(only) : all(entries);
}

const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;

/** The files of a single folder, named relative to it. */
async function below(folder: FileSystemDirectoryEntry): Promise<PickedFile[]> {
  const given = await all([folder]);
  return given.map((g) => ({ ...g, path: g.path.slice(folder.name.length + 1) }));
}

async function all(entries: readonly FileSystemEntry[]): Promise<PickedFile[]> {
  const given: PickedFile[] = [];
  const waiting = entries.map((entry) => ({ entry, found: false }));
  for (let seen = 0; waiting.length > 0 && seen < mostEntries; seen++) {
    const next = waiting.pop();
    if (!next) break;
    const { entry, found } = next;
    if (isFile(entry)) given.push({ path: entry.fullPath.replace(/^\//, ""), file: await fileOf(entry), found });
    else if (isFolder(entry) && !(found && entry.name.startsWith("."))) waiting.push(...(await children(entry)).map((child) => ({ entry: child, found: true })));
  }
  return given.sort((a, b) => (a.path < b.path ? -1 : 1));
}

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));

async function children(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const found: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject)); // a hundred at a time
    if (some.length === 0) return found;
    found.push(...some);
  }
}
