// The parts of `make web` and `make playground` besides Vite. They need no browser.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { compress } from "../compress.ts";
import { address, serve } from "../serve.ts";

test("files are compressed, served so, and with the headers of a good host", async (t) => {
  const scratch = await mkdtemp(join(tmpdir(), "playground-"));
  t.after(() => rm(scratch, { recursive: true }));
  const folder = join(scratch, "dist");
  const script = "// a script that is long enough to gain by it\n".repeat(100);
  await mkdir(join(folder, "assets"), { recursive: true });
  await writeFile(join(folder, "assets", "main-1.js"), script);
  await writeFile(join(folder, "index.html"), "<!doctype html>");
  for (const run of ["compressing", "from what was kept"]) {
    await compress(folder, join(scratch, "kept"));
    assert.equal(brotliDecompressSync(await readFile(join(folder, "assets", "main-1.js.br"))).toString(), script, run);
    assert.equal(gunzipSync(await readFile(join(folder, "assets", "main-1.js.gz"))).toString(), script, run);
  }

  const server = await serve(folder, 0);
  t.after(() => server.close());
  const asset = await fetch(`${address(server)}/assets/main-1.js`, { headers: { "Accept-Encoding": "gzip, br" } });
  assert.equal(await asset.text(), script);
  assert.equal(asset.headers.get("Content-Encoding"), "br");
  assert.match(asset.headers.get("Cache-Control") ?? "", /immutable/);
  const page = await fetch(`${address(server)}/`);
  assert.equal(page.headers.get("Cache-Control"), "no-cache");
  assert.match(page.headers.get("Content-Security-Policy") ?? "", /default-src 'self'/);
});

test("a port that is taken is said to be", async (t) => {
  const server = await serve(fileURLToPath(new URL(".", import.meta.url)), 0);
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL("../serve.ts", import.meta.url)), String(port)], { encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`^Port ${port} is taken`));
});
