// Custom rules: constraints need the larger engine, which is only loaded for them.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync, constants } from "node:zlib";
import type { Page, Route } from "playwright-core";
import { address, serve } from "../serve.ts";
import { barriers } from "./axe.ts";
import { openFiles } from "./menu.ts";
import { opened } from "./opened.ts";
import { built, visit, visitAlone } from "./playground.ts";

const larger = /larger-[^/]*\.wasm$/;

const bootstrap = `static_resources:
  clusters:
  - name: Backend
    connect_timeout: 1s
`;
const constraint = (expression: string, more = "") => `constraints:
- id: acme/cluster-name
  message: envoy.config.cluster.v3.Cluster
  expression: "${expression}"
  text: cluster names are team-service
${more}`;
const expression = "this.name.matches('^[a-z]+-[a-z]+$')";
const builtIn = "severities:\n  schema/constraint: info\n";

const withRule = (more = "") => opened({ "envoy.yaml": bootstrap, ".xdslint.yaml": constraint(expression, more) });
const content = (page: Page) => page.locator(".cm-content");
const marked = (page: Page, severity = "error") => page.locator(`.cm-lintRange-${severity}`);
const problem = (page: Page, words: string) => page.locator(".problem").filter({ hasText: words });
const rule = (page: Page) => page.getByRole("button", { name: "acme/cluster-name" });
const note = (page: Page, words: string) => page.locator("[role=tabpanel]").getByText(words, { exact: true });

/** The engines that a page asks for. */
function engines(page: Page): string[] {
  const asked: string[] = [];
  page.context().on("request", (request) => {
    const name = /(\w+)-[^/]*\.wasm$/.exec(request.url())?.[1];
    if (name) asked.push(name);
  });
  return asked;
}

/** Puts another text in the place of the one that is shown, as by typing. */
async function write(page: Page, text: string): Promise<void> {
  await content(page).focus();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(text);
}

test("the engine that everybody loads knows neither CEL nor requests, and is less than 5.3 MB compressed", async () => {
  const assets = join(built, "assets");
  const name = (await readdir(assets)).find((name) => /^engine-.*\.wasm$/.test(name)) ?? "";
  const engine = await readFile(join(assets, name));
  assert.ok(!engine.includes("cel.dev/cel-go"));
  assert.ok(!engine.includes("xdslint/internal/walk"));
  // Hosts use quality 11, which takes a minute here. Its result is about a seventh smaller than that of quality 9.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
  const { length } = brotliCompressSync(engine, { params });
  assert.ok(length * 0.865 < 5.3e6, `${length} bytes at quality 9`);
});

test("the larger engine is loaded with the first constraint, and judges from then on", () =>
  visit(async (page) => {
    const asked = engines(page);
    await page.getByText("No problems in 1 file").waitFor();
    asked.length = 0;
    await page.reload();
    await page.getByText("No problems in 1 file").waitFor();
    await page.getByRole("tab", { name: ".xdslint.yaml" }).click();
    await write(page, `${builtIn}ignores: []\n`);
    await page.getByRole("button", { name: "Examples" }).click(); // whatever else is done
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" }); // until then it receives the keys
    assert.deepEqual(asked, ["engine"]);

    await write(page, constraint(expression));
    await problem(page, "cluster names are team-service").waitFor();
    assert.deepEqual(asked, ["engine", "larger"]);
    await page.getByText("Ready", { exact: true }).waitFor();
    await rule(page).waitFor();

    await page.getByRole("tab", { name: "envoy.yaml" }).click();
    await marked(page).waitFor();
    assert.equal(await marked(page).evaluate((element) => element.closest(".cm-line")?.textContent), "  - name: Backend");
    await write(page, bootstrap.replace("Backend", "shop-backend").replace("1s", "-1s"));
    await problem(page, "connect_timeout is -1s").waitFor(); // built-in rules still apply
    await rule(page).waitFor({ state: "detached" });
    assert.deepEqual(asked, ["engine", "larger"]);
  }, opened({ "envoy.yaml": bootstrap, ".xdslint.yaml": builtIn })));

test("a mistake in an expression is marked to the word, and no longer marked when it is fixed", () =>
  visit(async (page) => {
    await problem(page, "cluster names are team-service").waitFor();
    await page.getByRole("tab", { name: ".xdslint.yaml" }).click();
    await write(page, constraint("this.nme != ''"));
    await problem(page, 'has no field "nme" (did you mean "name"?)').waitFor();
    await marked(page).filter({ hasText: /^nme$/ }).waitFor();
    await write(page, constraint("this.name.startsWith('B')"));
    await marked(page).waitFor({ state: "detached" });
    await page.getByText("No problems in 1 file").waitFor();
  }, withRule()));

test("what cannot run here is said at its place", () =>
  visit(async (page) => {
    await problem(page, "plugins do not run here; the command xdslint runs them").waitFor();
    await page.getByRole("tab", { name: ".xdslint.yaml" }).click();
    await marked(page).filter({ hasText: /^rules\.wasm$/ }).waitFor();
    await page.getByRole("tab", { name: "envoy.yaml" }).click();
    await problem(page, "cluster names are team-service").waitFor();
  }, withRule("plugins:\n- path: rules.wasm\n")));

test("a custom rule has a page from its own text", () =>
  visit(async (page) => {
    await rule(page).click();
    const dialog = page.getByRole("dialog", { name: "acme/cluster-name" });
    await dialog.getByText("Dashboards read the team out of it").waitFor();
    assert.deepEqual(await barriers(page, "dialog"), []);
    assert.equal(await dialog.getByRole("link", { name: "naming" }).getAttribute("href"), "https://wiki.example.com/naming");
    assert.equal(await dialog.locator("img, script").count(), 0);
    assert.equal(await dialog.getByRole("link").count(), 1, "a script is no link");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assert.ok(await rule(page).evaluate((button) => button === document.activeElement), "the focus is back");

    await marked(page).hover();
    const hover = page.locator(".cm-tooltip .hover");
    await hover.getByText("Dashboards read the team out of it, see naming.").waitFor();
    await hover.getByRole("button", { name: "acme/cluster-name" }).click();
    await dialog.waitFor();
  }, withRule("  why: |\n    Dashboards read the team out of it, see [naming](https://wiki.example.com/naming).\n\n    [x](javascript:alert(1)) <img src=x onerror=alert(2)> ![y](https://elsewhere.example/z.png)\n")));

test("while the larger engine loads, or if that fails, the other rules still apply", () =>
  visit(async (page) => {
    let go = () => {};
    const held = new Promise<void>((done) => (go = done));
    await page.route(larger, async (route: Route) => {
      await held;
      await route.fulfill({ contentType: "text/html", body: "<h1>Please log in</h1>" }); // like the login page of a hotel network
    });
    await page.reload();
    await page.getByText("Loading the larger engine…").waitFor();
    await note(page, "The constraints in .xdslint.yaml are not checked yet.").waitFor();
    await content(page).getByText("Backend").waitFor();
    await write(page, bootstrap.replace("1s", "-1s"));
    await problem(page, "connect_timeout is -1s").waitFor();
    go();
    const alert = page.getByRole("alert").filter({ hasText: "The larger engine that they need could not be started: the server sent something else" });
    await alert.waitFor();
    await note(page, "The constraints in .xdslint.yaml are not checked.").waitFor();
    await write(page, bootstrap.replace("1s", "-2s"));
    await problem(page, "connect_timeout is -2s").waitFor();

    await page.unroute(larger);
    await page.getByRole("button", { name: "Try again" }).click();
    await problem(page, "cluster names are team-service").waitFor();
    await problem(page, "connect_timeout is -2s").waitFor();
    await alert.waitFor({ state: "detached" });
  }, withRule()));

test("it is restarted like the other, without a network", () =>
  visitAlone(async (page) => {
    const asked = engines(page);
    await problem(page, "cluster names are team-service").waitFor();
    await page.clock.install();
    await page.getByRole("tab", { name: ".xdslint.yaml" }).click();
    const hostile = Buffer.from("resources:\n" + "- {}\n".repeat((12 << 20) / 5)); // some ten seconds of work
    await openFiles(page, { name: "hostile.yaml", mimeType: "", buffer: hostile });
    await page.getByRole("tab", { name: "hostile.yaml" }).waitFor();
    await page.clock.fastForward(21_000);
    await page.getByRole("alert").getByText("it took longer than 20 seconds").waitFor();
    await write(page, "");
    await problem(page, "cluster names are team-service").waitFor();
    assert.deepEqual(asked.filter((name) => name === "larger"), ["larger"]);
  }, withRule(), { serviceWorkers: "block" }));

test("once it was needed it is there without a network, also of the next visit", async (t) => {
  const server = await serve(built, 0);
  const stop = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  t.after(stop);
  await visitAlone(
    async (page, context) => {
      await page.getByText("No problems in 1 file").waitFor();
      await page.waitForFunction(() => navigator.serviceWorker.controller?.state === "activated");
      const kept = () =>
        page.evaluate(async () => {
          const all = await Promise.all((await caches.keys()).map(async (key) => (await (await caches.open(key)).keys()).map(({ url }) => url)));
          return all.flat().some((url) => /larger-[^/]*\.wasm$/.test(url));
        });
      assert.equal(await kept(), false, "not needed yet");
      await page.evaluate((hash) => (location.hash = hash), withRule().slice(1));
      await problem(page, "cluster names are team-service").waitFor();
      assert.equal(await kept(), true);
      await stop();
      await context.setOffline(true);
      await page.reload();
      await problem(page, "cluster names are team-service").waitFor();
    },
    opened({ "envoy.yaml": bootstrap }),
    { baseURL: address(server) },
  );
});

test("the example of custom rules finds what it says, and nothing when it is fixed", () =>
  visit(async (page) => {
    for (const words of ["no timeout for requests to catalog-web", "customers reach this cluster, and it has no outlier_detection", "cluster names are team-service"]) {
      await problem(page, words).waitFor();
    }
    assert.equal(await page.locator(".problem").count(), 3);
    await page.getByRole("button", { name: "Show the fix" }).click();
    await page.getByText("No problems in 1 file").waitFor();
  }, "/#example=custom-rules"));
