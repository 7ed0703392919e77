// Writes a .br and a .gz next to each compressible file of the built playground.
import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { dist } from "./serve.ts";

const { BROTLI_PARAM_LGWIN, BROTLI_MAX_WINDOW_BITS, Z_BEST_COMPRESSION } = constants;

/** At the highest quality, which is brotli's default. */
const encodings: [string, (content: Buffer) => Promise<Buffer>][] = [
  ["br", (content) => promisify(brotliCompress)(content, { params: { [BROTLI_PARAM_LGWIN]: BROTLI_MAX_WINDOW_BITS } })],
  ["gz", (content) => promisify(gzip)(content, { level: Z_BEST_COMPRESSION })],
];

/** Compressing the engine takes a minute, so results are cached in kept by content. */
export async function compress(folder: string, kept: string): Promise<void> {
  await mkdir(kept, { recursive: true });
  const old = await readdir(kept);
  const made = new Map<string, Promise<void>>();
  const compressFile = async (path: string) => {
    const content = await readFile(path);
    const digest = createHash("sha256").update(content).digest("hex");
    for (const [ending, encode] of encodings) {
      const name = `${digest}.${ending}`;
      const making = made.get(name) ?? (old.includes(name) ? Promise.resolve() : writeWhole(join(kept, name), encode(content)));
      made.set(name, making);
      await making;
      await copyFile(join(kept, name), `${path}.${ending}`);
    }
  };
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && /\.(html|js|css|svg|wasm|webmanifest)$/.test(entry.name));
  await Promise.all(files.map((file) => compressFile(join(file.parentPath, file.name))));
  await Promise.all(old.filter((name) => !made.has(name)).map((name) => rm(join(kept, name))));
}

/** Writes a file completely or not at all. */
async function writeWhole(path: string, content: Promise<Buffer>): Promise<void> {
  await writeFile(`${path}.part`, await content);
  await rename(`${path}.part`, path);
}

if (import.meta.main) await compress(dist, fileURLToPath(new URL("build/compressed", import.meta.url)));
