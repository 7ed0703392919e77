import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import type { Page } from "playwright-core";
import { address, serve } from "../serve.ts";
import { writeServiceWorker } from "../sw/plugin.ts";
import { opened } from "./opened.ts";
import { built, visitAlone } from "./playground.ts";

let scratch: string;
before(async () => (scratch = await mkdtemp(join(tmpdir(), "playground-"))));
after(() => rm(scratch, { recursive: true }));

/** A host of its own, so that it can go away, or get another version. */
async function host(t: TestContext, folder: string, port = 0): Promise<{ url: string; asked: string[]; stop(): Promise<void> }> {
  const server: Server = await serve(folder, port);
  const asked: string[] = [];
  server.on("request", (request: IncomingMessage) => asked.push(request.url ?? ""));
  const stop = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  t.after(stop);
  return { url: address(server), asked, stop };
}

const finding = (page: Page) => page.getByText("no cluster is named").first().waitFor();
const kept = (page: Page) => page.waitForFunction(() => navigator.serviceWorker.controller?.state === "activated");

test("once loaded, all works without a network", async (t) => {
  await cp(built, join(scratch, "folder"), { recursive: true });
  await compressEngine(join(scratch, "folder"));
  const { url, asked, stop } = await host(t, scratch);
  await visitAlone(
    async (page, context) => {
      await finding(page);
      await kept(page);
      assert.equal(asked.filter((path) => path.endsWith(".wasm")).length, 1, "the engine is fetched once");
      await stop();
      await context.setOffline(true);

      await page.getByRole("tab", { name: "Graph" }).click(); // not loaded before
      await page.getByRole("group", { name: /^Graph/ }).getByRole("button").first().waitFor();
      await page.reload();
      await finding(page);
      await page.goto("/folder/rules/reference/route-unknown-cluster.html");
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.getByRole("link", { name: /playground/i }).first().click();
      await finding(page);
    },
    "/folder/",
    { baseURL: url },
  );
});

test("a new version comes whole, and with the next load", async (t) => {
  const old = await host(t, built);
  const port = Number(new URL(old.url).port);
  await visitAlone(
    async (page) => {
      const update = () => page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()));
      await finding(page);
      await kept(page);
      await old.stop();

      const broken = await host(t, await nextVersion("broken"), port);
      await writeFile(join(scratch, "broken", "icon.svg"), "<svg/>"); // as if files were still being uploaded
      await update().catch(() => {});
      await broken.stop();
      await page.reload();
      await finding(page);
      assert.equal(await page.title(), "xdslint playground");

      const next = await host(t, await nextVersion("next"), port);
      const replaced = page.evaluate(() => new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done, { once: true })));
      await update();
      await replaced;
      await next.stop();
      assert.equal(await page.title(), "xdslint playground");
      await page.getByRole("tab", { name: "Compare" }).click(); // not in the next version
      await page.getByRole("tabpanel").getByRole("button").first().waitFor();
      await page.reload();
      await finding(page);
      assert.equal(await page.title(), "next");
    },
    "/",
    { baseURL: old.url },
  );
});

const constrained = {
  "envoy.yaml": "static_resources: {clusters: [{name: Backend, connect_timeout: 1s}]}\n",
  ".xdslint.yaml": "constraints:\n- {id: acme/cluster-name, message: envoy.config.cluster.v3.Cluster, expression: this.name.contains('-'), text: no team}\n",
};

// Chromium would replace a service worker that still answers after five minutes.
test("what was needed once comes with each version", { timeout: 4 * 60_000 }, async (t) => {
  const old = await host(t, built);
  const port = Number(new URL(old.url).port);
  await visitAlone(
    async (page) => {
      const judged = () => page.getByText("no team").first().waitFor();
      const versions = (count: number) =>
        page.evaluate(async (count) => {
          const inAll = async () => Promise.all((await caches.keys()).map(async (key) => (await caches.open(key)).keys()));
          while ((await inAll()).flat().filter(({ url }) => /larger-[^/]*\.wasm$/.test(url)).length < count) await new Promise(requestAnimationFrame);
        }, count);
      await judged(); // before there is a service worker
      await kept(page);
      await versions(1);
      await old.stop();

      const next = await host(t, await nextVersion("later"), port);
      const replaced = page.evaluate(() => new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done, { once: true })));
      await page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()));
      await replaced;
      await versions(2);
      await next.stop();
      await page.reload();
      await judged();
      assert.equal(await page.title(), "later");
    },
    opened(constrained),
    { baseURL: old.url },
  );
});

/** As it is, the engine is too large for the cache of a browser that keeps it in memory, as those of tests do. */
async function compressEngine(folder: string): Promise<void> {
  const assets = join(folder, "assets");
  const name = (await readdir(assets)).find((name) => /^engine-.*\.wasm$/.test(name));
  assert.ok(name);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  await writeFile(join(assets, `${name}.br`), await promisify(brotliCompress)(await readFile(join(assets, name)), { params }));
}

/** The built page with another title, and other names for all that is named after its content. */
async function nextVersion(title: string): Promise<string> {
  const folder = join(scratch, title);
  await cp(built, folder, { recursive: true, filter: (path) => !/\.(br|gz)$/.test(path) });
  const names = await readdir(join(folder, "assets"));
  const renamed = (name: string) => name.replace(/-([\w-]+)\.(\w+)$/, "-$1x.$2");
  for (const name of [...names.map((name) => join("assets", name)), "index.html"]) {
    const path = join(folder, name);
    if (/\.(html|js|css)$/.test(name)) {
      let text = await readFile(path, "utf8");
      for (const other of names) text = text.replaceAll(other, renamed(other));
      await writeFile(path, text.replace(/<title>.*<\/title>/, `<title>${title}</title>`));
    }
    await rename(path, name === "index.html" ? path : join(folder, renamed(name)));
  }
  await writeServiceWorker(folder);
  return folder;
}
