// The engine that the page gets if scripts/preinitialise.ts fails, as it may with a new Go release.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as wasm from "../scripts/wasm.ts";
import { visit } from "./playground.ts";

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** Changes the exports of an engine. */
function withExports(engine: Buffer, change: (exports: wasm.Export[]) => wasm.Export[]): Buffer {
  const sections = wasm.split(engine);
  const exports = wasm.readExports(wasm.body(sections, wasm.section.export));
  return wasm.join(engine, wasm.put(sections, wasm.section.export, wasm.writeExports(change(exports))));
}

test("an engine that cannot be pre-initialised is shipped as it is, and the page works with it", async (t) => {
  const scratch = await mkdtemp(join(tmpdir(), "playground-"));
  t.after(() => rm(scratch, { recursive: true }));
  const [input, output] = [join(scratch, "in.wasm"), join(scratch, "out.wasm")];
  const broken = withExports(await readFile(path("build/plain/engine.wasm")), (exports) => exports.filter(({ name }) => name !== "collect"));
  await writeFile(input, broken);

  const { status, stderr } = spawnSync(process.execPath, [path("scripts/preinitialise.ts"), input, output], { encoding: "utf8" });
  assert.equal(status, 0);
  assert.match(stderr, /^\S+out\.wasm could not be pre-initialised, so the page starts more slowly: .+\n$/);
  const shipped = await readFile(output);
  assert.ok(shipped.equals(broken));

  await visit(async (page) => {
    await page.route(/engine-[^/]*\.wasm$/, (route) => route.fulfill({ contentType: "application/wasm", body: shipped }));
    await page.reload();
    await page.getByText('no cluster is named "chekout"').first().waitFor();
    await page.getByRole("button", { name: /^Apply .*safe fix/ }).click();
    await page.getByText(/fix(es)? applied$/).waitFor();
    await page.getByRole("tab", { name: "Graph" }).click();
    await page.getByRole("group", { name: /^Graph/ }).getByRole("button").first().waitFor();
  });
});
