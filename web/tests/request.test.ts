// The request bar: what happens to a request, its way in the graph, and the holes of the configuration.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { Page, Route } from "playwright-core";
import { barriers } from "./axe.ts";
import { opened } from "./opened.ts";
import { visit } from "./playground.ts";

const text = (path: string) => readFile(new URL(`../../testdata/${path}`, import.meta.url), "utf8");
const walk = await text("walk/edge.yaml");
const guarded = await text("posture/edge.yaml");
const grpc = await text("walk/grpc.yaml");

const bar = (page: Page) => page.getByRole("textbox", { name: "Request to follow" });
const said = (page: Page) => page.locator("#request-said");
const step = (page: Page, words: string) => page.getByRole("list", { name: "The way of the request" }).locator("> li").filter({ hasText: words });
const holes = (page: Page) => page.getByRole("region", { name: "Holes" });
const lit = (page: Page) => page.locator(".way [data-marked]");
const lineOf = (content: string, part: string) => content.slice(0, content.indexOf(part)).split("\n").length;

async function cursorAt(page: Page, line: number): Promise<void> {
  await page.waitForFunction((line) => document.querySelector(".cm-activeLineGutter")?.textContent === String(line), line);
}

/** Opens a text with the panel of the request bar. */
const requestOf = (content: string, use: (page: Page) => Promise<unknown>, options = {}) =>
  visit(
    async (page) => {
      await page.getByRole("tab", { name: "Request" }).click();
      await use(page);
    },
    opened({ "envoy.yaml": content }),
    options,
  );

test("a request's steps, what the upstream sees, and each candidate with its place", () =>
  requestOf(walk, async (page) => {
    await bar(page).fill("https://shop.example.com/x/../cart/items?page=2");
    await said(page).getByText("The upstream sees GET /v2/cart/items?page=2, host cart.internal.").waitFor();
    await step(page, "the request gets x-service: cart").waitFor();
    await step(page, "authz is disabled, as route cart says").waitFor();
    await step(page, "endpoints priority 1, b cart-b.internal:8080").waitFor();
    await step(page, "not admin: the server name does not fit").getByRole("button", { name: "admin" }).click();
    await cursorAt(page, lineOf(walk, "- name: admin"));
    await step(page, 'not cart-beta: the header "x-beta" does not fit').getByRole("button", { name: "cart-beta" }).click();
    await cursorAt(page, lineOf(walk, "- name: cart-beta"));

    await bar(page).fill("GET https://shop.example.com/cart/items\nx-beta: yes");
    await step(page, "cluster cart-beta").waitFor();
    assert.deepEqual(await barriers(page, "#panel"), []);
  }));

test("what is not known is said with its reason, and what happens otherwise", () =>
  requestOf(walk, async (page) => {
    await bar(page).fill("https://shop.example.com/basket/7");
    await said(page).getByText("Unless a filter answers: Envoy answers 301 (direct_response).").waitFor();
    await step(page, "authz is not decided: it asks a service").waitFor();
    await page.getByRole("list", { name: "Not known" }).getByText("status is not known").waitFor();
    await step(page, "authz").getByText("Settings").click();
    await step(page, "authz").getByText("envoy_grpc").waitFor();
  }));

test("the way is lit in the graph, and follows what is typed there and in the text", () =>
  requestOf(guarded, async (page) => {
    await bar(page).fill("GET http://console.example.com/");
    await step(page, "cluster console").waitFor();
    await page.getByRole("button", { name: "Show in the graph" }).click();
    await page.locator('.way [data-marked="cluster/console"]').waitFor();
    const ids = async () => (await lit(page).evaluateAll((all) => all.map((e) => e.getAttribute("data-marked") ?? ""))).filter((id) => /^(listener|route_configuration|cluster)\//.test(id)).sort();
    assert.deepEqual(await ids(), ["cluster/console", "listener/edge", "route_configuration/edge"]);
    await bar(page).fill("GET http://pay.example.com/health");
    await page.locator('.way [data-marked="cluster/pay"]').waitFor();
    assert.deepEqual(await ids(), ["cluster/pay", "listener/edge", "route_configuration/edge"]);
    await page.locator(".cm-line", { hasText: "match: {path: /health}" }).click();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    for (const _ of "pay") await page.keyboard.press("Backspace");
    await page.keyboard.type("console");
    await page.locator('.way [data-marked="cluster/console"]').waitFor();
    await page.getByRole("button", { name: "Clear the request" }).click();
    await lit(page).first().waitFor({ state: "detached" });
    assert.deepEqual(await barriers(page, "#panel"), []);
  }));

test("the holes of a host and a cluster, and one of them in the bar", () =>
  requestOf(guarded, async (page) => {
    await holes(page).getByText("Past jwt and authz by an upgrade").waitFor();
    await bar(page).fill("GET http://console.example.com/");
    await holes(page).getByText("None was found for this host and cluster.").waitFor();
    await bar(page).fill("GET http://pay.example.com/admin");
    await said(page).getByText("Envoy answers 401").waitFor();
    const hole = holes(page).getByRole("listitem").filter({ hasText: "Past jwt by an escaped slash" });
    await holes(page).getByRole("button", { name: "2 more" }).click();
    await hole.getByText("curl -i --path-as-is -H 'host: pay.example.com' 'http://127.0.0.1:8080/%2Fadmin'").waitFor();
    await hole.getByRole("button", { name: /^jwt: no rule/ }).click();
    await cursorAt(page, lineOf(guarded, '"@type": type.googleapis.com/envoy.extensions.filters.http.jwt_authn'));
    await hole.getByRole("button", { name: "Follow this request" }).click();
    await said(page).getByText("Unless a filter answers: The upstream sees GET /%2Fadmin").waitFor();
    assert.match(await bar(page).inputValue(), /^curl /);
    assert.deepEqual(await barriers(page, "#panel"), []);
  }));

test("the form says what a URL does not", () =>
  requestOf(walk, async (page) => {
    await bar(page).fill("GET https://10.0.0.1/console");
    await step(page, "filter chain shop").waitFor();
    await page.getByText("Connection", { exact: true }).click();
    await page.getByLabel("SNI").fill("admin.example.com");
    await page.getByLabel("Source").fill("somewhere");
    await said(page).getByText('"somewhere" is not an IP address').waitFor();
    await page.getByLabel("Source").fill("10.1.2.3");
    await step(page, "filter chain admin").waitFor();
    await page.getByText("Connection (2 set)").waitFor();
  }));

test("odd requests have an answer or a reason, also without a listener", () =>
  requestOf(walk, async (page) => {
    for (const [request, words] of [
      [`https://shop.example.com/${"a/".repeat(10_000)}`, "Envoy answers"],
      ["https://shop.example.com/\u0001\u007f", "Envoy answers 400"],
      ["x".repeat(70_000), "The request has more than 64 kB."],
      ["ftp://shop.example.com/", 'is not a URL of http or https'],
      ["curl --proxy a b", "The option --proxy of curl is not known here"],
      ["<img src=x onerror=alert(1)>", ""],
    ] as const) {
      await bar(page).fill(request);
      await said(page).getByText(words).first().waitFor();
    }
    assert.equal(await page.locator(".request img").count(), 0);
    await bar(page).fill("https://shop.example.com/cart");
    await step(page, "cluster cart").waitFor();
    const editor = page.getByRole("textbox", { name: "Text of envoy.yaml" });
    await editor.focus();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.type("]]");
    await said(page).getByText("An earlier version of the texts").waitFor();
    await step(page, "cluster cart").waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText("node: {id: edge-1}\n");
    await said(page).getByText("The configuration does not have a listener.").waitFor();
  }));

test("an RPC of a client without a proxy", () =>
  requestOf(grpc, async (page) => {
    await page.getByLabel("Target").selectOption("grpc-go:1.85");
    await bar(page).fill("xds:///orders.shop:443 /shop.Orders/Get");
    await step(page, "cluster orders for 85.5% of the RPCs").waitFor();
    await page.getByText("as grpc-go:1.85 does").waitFor();
    await page.getByLabel("Target").selectOption("envoy:1.38");
    await said(page).getByText("choose grpc-go").waitFor();
  }));

test("the request is part of a link, and a secret in it is found", () =>
  requestOf(guarded, async (page) => {
    await bar(page).fill("GET http://pay.example.com/admin\nauthorization: Bearer abcdefghijklmnopqrstuvwxyz");
    await said(page).getByText("Envoy answers 401").first().waitFor();
    await page.getByRole("button", { name: "Copy link" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("the request").waitFor();
    await dialog.getByRole("button", { name: "Copy link without the secrets" }).click();
    const link = await dialog.getByLabel("Link", { exact: true }).inputValue();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Clear the request" }).click();
    await page.evaluate((hash) => (location.hash = hash), new URL(link).hash);
    await page.getByRole("button", { name: "Clear the request" }).waitFor();
    const value = await bar(page).inputValue();
    assert.match(value, /^GET http:\/\/pay\.example\.com\/admin\nauthorization: /);
    assert.doesNotMatch(value, /abcdefgh/);
  }));

test("the engine for requests is loaded when the bar is opened, and a failure can be repeated", () =>
  visit(async (page) => {
    const asked: string[] = [];
    page.context().on("request", (request) => {
      if (/larger-[^/]*\.wasm$/.test(request.url())) asked.push(request.url());
    });
    await page.route(/larger-[^/]*\.wasm$/, (route: Route) => route.fulfill({ contentType: "text/html", body: "<h1>Please log in</h1>" }));
    await page.getByText("No problems in 1 file").or(page.locator(".problem")).first().waitFor();
    await page.getByRole("tab", { name: "Graph" }).click();
    await page.locator("[data-box]").first().waitFor();
    assert.deepEqual(asked, []);
    await bar(page).fill("GET http://pay.example.com/health");
    await said(page).getByText("the engine for them could not be started").waitFor();
    await page.unroute(/larger-[^/]*\.wasm$/);
    await page.getByRole("button", { name: "Try again" }).click();
    await said(page).getByText("The upstream sees GET /health").waitFor();
  }, opened({ "envoy.yaml": guarded })));

test("on a phone, the bar, the way and a place in the text", () =>
  requestOf(
    guarded,
    async (page) => {
      await bar(page).fill("GET http://pay.example.com/health");
      await step(page, "route health").getByRole("button", { name: "health" }).click();
      await cursorAt(page, lineOf(guarded, "- name: health"));
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the screen");
    },
    { viewport: { width: 360, height: 740 }, hasTouch: true },
  ));
