// Writes sw.js beside the finished page: the service worker, and before it the list of all that it keeps.
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

export async function writeServiceWorker(folder: string): Promise<void> {
  const files = JSON.stringify(digests(folder));
  const { code } = await transformWithOxc(readFileSync(source, "utf8"), source);
  writeFileSync(join(folder, "sw.js"), `const version = "${digest(files + code)}";\nconst files = ${files};\n${code}`);
}

/** All files of the page by their paths, with their digests as the browser checks them. */
function digests(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "sw.js")
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Object.fromEntries(paths.map((path) => [relative(folder, path).replaceAll(sep, "/"), `sha256-${digest(readFileSync(path))}`]));
}

const digest = (content: string | Buffer) => createHash("sha256").update(content).digest("base64");
