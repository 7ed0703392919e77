// Writes sw.js for the built page: the lists of files to keep, then the service worker.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { transformWithOxc, type Plugin } from "vite";

const source = fileURLToPath(new URL("sw.ts", import.meta.url));
let folder: string;

export const serviceWorker: Plugin = {
  name: "service-worker",
  apply: "build",
  configResolved: ({ root, build }) => {
    folder = resolve(root, build.outDir);
  },
  closeBundle: {
    order: "post", // after all that writes pages
    sequential: true,
    handler: () => writeServiceWorker(folder),
  },
};

/** Files that few visits need are kept when they are first requested. */
const onDemand = /^assets\/larger-.*\.wasm$/;

export async function writeServiceWorker(folder: string): Promise<void> {
  const all = Object.entries(digests(folder));
  const list = (demanded: boolean) => JSON.stringify(Object.fromEntries(all.filter(([path]) => onDemand.test(path) === demanded)));
  const lists = `const files = ${list(false)};\nconst onDemand = ${list(true)};\n`;
  const { code } = await transformWithOxc(readFileSync(source, "utf8"), source);
  writeFileSync(join(folder, "sw.js"), `const version = "${digest(lists + code)}";\n${lists}${code}`);
}

/** All files of the page by path, with their digests for the browser to check. */
function digests(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "sw.js")
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Object.fromEntries(paths.map((path) => [relative(folder, path).replaceAll(sep, "/"), `sha256-${digest(readFileSync(path))}`]));
}

const digest = (content: string | Buffer) => createHash("sha256").update(content).digest("base64");
