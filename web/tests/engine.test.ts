// The engine's worker: what happens when it cannot start, crashes or does not finish.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page, Route } from "playwright-core";
import * as wasm from "../scripts/wasm.ts";
import { openFiles } from "./menu.ts";
import { visit, visitAlone } from "./playground.ts";

const engineFile = /engine-[^/]*\.wasm$/;
const problem = (page: Page) => page.getByText('no cluster is named "chekout"').first();
const editor = (page: Page) => page.getByRole("textbox", { name: /^Text of/ });
const crashed = (page: Page) => page.getByRole("alert").getByText("The engine crashed on this input and was restarted. Your text is kept.");
const fixed = '{"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: a, connect_timeout: -1s}';

/** Many empty messages: each byte of it becomes a hundred of memory, and each message a finding. */
const hostile = (megabytes: number) => "resources:\n" + "- {}\n".repeat((megabytes << 20) / 5);

/** Opens a text as a file, since typing it would take all day. */
const give = (page: Page, name: string, text: string) => openFiles(page, { name, mimeType: "", buffer: Buffer.from(text) });

/** The engine with no more memory than 2,048 pages of 64 KiB. */
const limited = (engine: Buffer) => wasm.join(engine, wasm.put(wasm.split(engine), wasm.section.memory, Buffer.from([1, 1, 0x80, 0x08, 0x80, 0x10])));

test("an engine that dies of a text is restarted, and the text is kept", () =>
  visit(async (page) => {
    const workers: string[] = [];
    page.on("worker", (worker) => workers.push(worker.url()));
    const started = () => workers.filter((url) => /worker-/.test(url) && !/arrange/.test(url)).length;
    // The browser's limit of 4 GiB takes minutes to fill, so the limit here is 128 MiB.
    await page.route(engineFile, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { "Content-Type": "application/wasm" }, body: limited(await response.body()) });
    });
    await page.reload();
    await problem(page).waitFor();
    const before = started();

    await give(page, "hostile.yaml", hostile(2));
    await crashed(page).waitFor();
    await page.getByText("Ready", { exact: true }).waitFor();
    assert.equal(started(), before + 1);
    assert.match(await editor(page).innerText(), /^resources:\n- \{\}\n/);

    // The graph of this text would crash it again, so it is not asked for.
    await page.getByRole("tab", { name: "Graph" }).click();
    await page.getByText("Loading…", { exact: true }).waitFor({ state: "hidden" });
    await page.getByRole("tab", { name: "Problems" }).click();
    await crashed(page).waitFor();
    assert.equal(started(), before + 1);

    await editor(page).fill(fixed);
    await page.getByText("connect_timeout is -1s").first().waitFor();
    await crashed(page).waitFor({ state: "detached" });
    assert.equal(started(), before + 1);
  }));

test("an engine that does not come to an end is stopped", () =>
  visitAlone(async (page) => {
    await problem(page).waitFor();
    await page.clock.install();
    await give(page, "hostile.yaml", hostile(12)); // some ten seconds of work
    await page.getByRole("tab", { name: "hostile.yaml" }).waitFor();
    await page.clock.fastForward(21_000);
    await crashed(page).waitFor();
    await page.getByRole("alert").getByText("it took longer than 20 seconds").waitFor();
    await editor(page).fill(fixed);
    await page.getByText("connect_timeout is -1s").first().waitFor();
    await crashed(page).waitFor({ state: "detached" });
  }));

test("an engine that cannot be loaded is said, and can be tried again", () =>
  visit(async (page) => {
    // Like the login page of a hotel network.
    await page.route(engineFile, (route) => route.fulfill({ contentType: "text/html", body: "<h1>Please log in</h1>" }));
    await page.reload();
    await page.getByRole("alert").getByText("The engine could not be started: the server sent something else").waitFor();
    await editor(page).fill(fixed);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("alert").getByText("The engine could not be started").waitFor();
    await page.unroute(engineFile);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("connect_timeout is -1s").first().waitFor();
    await page.getByRole("alert").waitFor({ state: "detached" });
  }));

test("a host that does not know WebAssembly's type will do", () =>
  visit(async (page) => {
    const octets = async (route: Route) => route.fulfill({ response: await route.fetch(), contentType: "application/octet-stream" });
    await page.route(engineFile, octets);
    await page.reload();
    await problem(page).waitFor();
  }));
