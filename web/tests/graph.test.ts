// The graph: drawing, navigation to the text and back, and thousands of boxes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import type { Page } from "playwright-core";
import type { Text } from "../src/project/project.ts";
import { estate } from "./estate.ts";
import { visit } from "./playground.ts";

const router = `http_filters:
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}`;

/** A bootstrap of one listener, whose only route leads to a cluster of the given name; there is one named "backend". */
const bootstrap = (to: string, node = "edge") => `node: {id: ${node}, cluster: shop}
static_resources:
  listeners:
  - name: ingress
    address: {socket_address: {address: 0.0.0.0, port_value: 8080}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: ingress
          ${router}
          route_config:
            name: shop
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: {prefix: /}
                route: {cluster: ${to}}
  clusters:
  - name: backend
    type: STRICT_DNS
    connect_timeout: 1s
`;
const lineOf = (text: string, what: string) => String(text.split("\n").findIndex((line) => line.includes(what)) + 1);

const text = (content: string, name = "envoy.yaml"): Text => ({ side: "after", name, text: content });

/** Opens a link to these texts, with the graph in view. */
function graphOf(texts: Text[], use: (page: Page) => Promise<void>): Promise<void> {
  const project = { texts, active: { side: "after", name: texts[0]?.name }, target: "", transport: "", versions: "", panel: "graph" };
  return visit(use, `/#p=1.${deflateRawSync(JSON.stringify(project)).toString("base64url")}`, { viewport: { width: 1280, height: 800 } });
}

const box = (page: Page, id: string) => page.locator(`[data-box="${id}"]`);
const drawn = (page: Page, count: number) => page.waitForFunction((n) => document.querySelectorAll("[data-box]").length === n, count);
const cursorAt = (page: Page, line: string) => page.locator(".cm-activeLineGutter", { hasText: new RegExp(`^${line}$`) }).waitFor();
const transform = (page: Page) => page.locator(".picture > g").getAttribute("transform");
const zoomed = (page: Page, before: string | null) => page.waitForFunction((was) => document.querySelector(".picture > g")?.getAttribute("transform") !== was, before);

test("the opening page is drawn, with what is missing", () =>
  visit(async (page) => {
    await page.getByRole("tab", { name: "Graph" }).click();
    await page.getByRole("button", { name: /^listener / }).first().waitFor();
    await page.getByRole("button", { name: /; missing; referred to by / }).first().waitFor();
  }));

test("a dangling reference is red, dashed and said in words", () =>
  graphOf([text(bootstrap("backnd"))], async (page) => {
    const missing = page.getByRole("button", { name: "cluster backnd; missing; referred to by shop" });
    await missing.waitFor();
    await drawn(page, 5);
    assert.match((await missing.textContent()) ?? "", /missing/);
    const look = await missing.locator(".frame").evaluate((frame) => {
      const probe = document.createElement("i");
      probe.style.color = "var(--error)";
      document.body.append(probe);
      const { stroke, strokeDasharray } = getComputedStyle(frame);
      return { red: stroke === getComputedStyle(probe).color, dashed: strokeDasharray !== "none" };
    });
    assert.deepEqual(look, { red: true, dashed: true });
    await page.getByRole("button", { name: /^listener ingress; 1 finding, worst: error; refers to shop/ }).waitFor();
    await page.getByRole("button", { name: "route configuration shop; inline; referred to by ingress; refers to backnd" }).waitFor();
    const inline = "filter_chains[0].filters[0].typed_config.route_config";
    assert.deepEqual((await page.locator("[data-arrow] title").allTextContents()).sort(), [inline, `${inline}.virtual_hosts[0].routes[0].route.cluster`]);
  }));

test("a click on a box or an arrow leads to the text, and the cursor in the text to the box", () => {
  const content = bootstrap("backnd");
  return graphOf([text(content)], async (page) => {
    await box(page, "cluster/backend").click();
    await cursorAt(page, lineOf(content, "name: backend"));
    await page.locator('[data-marked="cluster/backend"].current').waitFor();
    await page.locator(".missing[data-arrow]").dispatchEvent("click");
    await cursorAt(page, lineOf(content, "backnd"));
    await page.locator('[data-marked="cluster/backnd"].current').waitFor();
    await page.locator('[data-marked="route_configuration/shop"].current').waitFor();
    await page.locator(".cm-line", { hasText: "stat_prefix" }).click();
    await page.locator('[data-marked="cluster/backnd"].current').waitFor({ state: "detached" });
    await page.locator('[data-marked="listener/ingress"].current').waitFor();
    await box(page, "cluster/backnd").click(); // a missing name is shown at its reference
    await cursorAt(page, lineOf(content, "backnd"));
  });
});

test("the keyboard goes along the references", () => {
  const content = bootstrap("backend");
  return graphOf([text(content)], async (page) => {
    await box(page, "listener/ingress").focus();
    await page.keyboard.press("ArrowRight");
    await page.locator('[data-box="route_configuration/shop"]:focus').waitFor();
    await page.keyboard.press("ArrowRight");
    await page.locator('[data-box="cluster/backend"]:focus').waitFor();
    await page.keyboard.press("Enter");
    await cursorAt(page, lineOf(content, "name: backend"));
    await box(page, "cluster/backend").focus();
    await page.keyboard.press("ArrowLeft");
    await page.locator('[data-box="route_configuration/shop"]:focus').waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.locator('[data-box="listener/ingress"]:focus').waitFor();
    await page.keyboard.press("ArrowUp");
    await page.locator('[data-box="bootstrap/edge"]:focus').waitFor();
    assert.equal(await page.locator('[data-box][tabindex="0"]').count(), 1);
    for (const key of ["+", "-", "-", "0"]) {
      const before = await transform(page);
      await page.keyboard.press(key);
      await zoomed(page, before);
    }
  });
});

test("zooming by wheel and buttons; the button shows all again", () =>
  graphOf([text(bootstrap("backend"))], async (page) => {
    await drawn(page, 4);
    const start = await transform(page);
    await page.locator(".picture").hover();
    await page.mouse.wheel(0, -400);
    await zoomed(page, start);
    const near = await transform(page);
    await page.getByRole("button", { name: "Zoom out" }).click();
    await zoomed(page, near);
    await page.getByRole("button", { name: "Zoom in" }).click();
    await page.getByRole("button", { name: "Fit" }).click();
    await page.waitForFunction((was) => document.querySelector(".picture > g")?.getAttribute("transform") === was, start);
  }));

test("filter, kinds, problems and surroundings narrow the graph", () => {
  const { texts } = estate(40);
  return graphOf(texts, async (page) => {
    await box(page, "cluster/cluster-1").waitFor();
    const total = await page.locator("[data-box]").count();
    await page.getByLabel("Filter by name or kind").fill("missing-");
    await page.getByText(`2 of ${total} names shown.`).waitFor();
    await drawn(page, 2);
    await page.getByRole("button", { name: "Show all" }).click();
    await drawn(page, total);

    await page.getByLabel("Only problems").check();
    await box(page, "cluster/missing-0").waitFor();
    await box(page, "cluster/cluster-1").waitFor({ state: "detached" });
    await box(page, "route_configuration/routes-0").waitFor();
    await page.getByLabel("Only problems").uncheck();
    await drawn(page, total);

    await page.getByText("Kinds").click();
    await page.getByRole("checkbox", { name: /^cluster load assignment/ }).uncheck();
    await page.getByText("Kinds (1 hidden)").click();
    await page.locator('[data-box][data-kind="cluster_load_assignment"]').first().waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Show all" }).click();

    await drawn(page, total);
    await box(page, "cluster/cluster-1").click();
    await page.getByLabel("How much to show around it").selectOption("1 reference away");
    await drawn(page, 3);
    await page.getByLabel("How much to show around it").selectOption("everything connected to it");
    await drawn(page, 4);
    await page.getByLabel("How much to show around it").selectOption("everything");
    await drawn(page, total);
  });
});

test("the list says in words what the picture shows", () => {
  const content = bootstrap("backnd");
  return graphOf([text(content)], async (page) => {
    await page.getByLabel("As a list").check();
    const missing = page.locator(".graph-list li", { hasText: "backnd" }).filter({ hasText: "missing" });
    await missing.getByRole("button", { name: `route configuration shop (line ${lineOf(content, "backnd")})` }).click();
    await cursorAt(page, lineOf(content, "backnd"));
    await page.locator(".graph-list").getByRole("button", { name: "backend", exact: true }).click();
    await cursorAt(page, lineOf(content, "name: backend"));
  });
});

test("each bootstrap has a frame of its own", () =>
  graphOf([text(bootstrap("backend"), "east.yaml"), text(bootstrap("backup"), "west.yaml")], async (page) => {
    await page.waitForFunction(() => document.querySelectorAll(".snapshot").length === 2);
    assert.deepEqual(await page.locator(".snapshot text").allTextContents(), ["east.yaml", "west.yaml"]);
  }));

test("what stays when the text changes stays where it is seen", () => {
  const content = bootstrap("backend");
  return graphOf([text(content)], async (page) => {
    await box(page, "cluster/backend").waitFor();
    const start = await transform(page);
    await page.locator(".picture").hover();
    await page.mouse.wheel(0, -100);
    await zoomed(page, start);
    const before = await box(page, "cluster/backend").boundingBox();
    await page.locator(".cm-line", { hasText: "name: backend" }).click();
    await page.keyboard.press("Home");
    await page.keyboard.type("- name: another\n");
    await box(page, "cluster/another").waitFor();
    const after = await box(page, "cluster/backend").boundingBox();
    assert.ok(before && after);
    assert.ok(Math.abs(before.width - after.width) < 1, `the zoom stays: ${before.width}, ${after.width}`);
    assert.ok(Math.hypot(before.x - after.x, before.y - after.y) < 60, `from ${before.x},${before.y} to ${after.x},${after.y}`);
    await page.keyboard.type("]]");
    await page.getByText("The graph shows an earlier version, because envoy.yaml cannot be parsed now.").waitFor();
    await box(page, "cluster/another").waitFor();
  });
});

test("texts without anything to draw, and texts that cannot be read", () =>
  graphOf([text("a: [1\n")], async (page) => {
    await page.getByText("Not drawn, because it cannot be parsed: envoy.yaml.").waitFor();
    await page.getByText("Nothing to draw yet.").waitFor();
  }));

test("odd names are words, and circles are drawn", () => {
  const names = ["<img src=x onerror=alert(1)>", '"]', "__proto__", "constructor", "\u202eright to left", "x".repeat(5000)];
  const cluster = (name: string, next: string) => `- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: ${JSON.stringify(name)}
  lb_policy: CLUSTER_PROVIDED
  cluster_type:
    name: envoy.clusters.aggregate
    typed_config: {"@type": type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: [${JSON.stringify(next)}]}`;
  const circle = names.map((name, i) => cluster(name, names[(i + 1) % names.length] ?? ""));
  return graphOf([text(`resources:\n${[...circle, cluster("self", "self")].join("\n")}\n`)], async (page) => {
    await page.getByRole("button", { name: "Fit" }).click();
    await drawn(page, names.length + 1);
    assert.equal(await page.locator(".graph img").count(), 0);
    await page.getByLabel("As a list").check();
    assert.equal(await page.locator(".graph-list p", { hasText: "refers to" }).count(), names.length + 1);
    await page.locator(".graph-list").getByRole("button", { name: names[0], exact: true }).waitFor();
  });
});

test("two thousand names: folded at first, all of them on demand, and moving them redraws nothing", async (t) => {
  const { texts, names } = estate(2000);
  await graphOf(texts, async (page) => {
    await page.getByText(/names with the same references are folded into/).waitFor();
    await page.locator("[data-box]").first().waitFor();
    assert.ok((await page.locator("[data-box]").count()) < 200);
    const folded = page.locator(".box.folded").first();
    await folded.click();
    await page.getByRole("button", { name: "Fold again" }).waitFor();

    await page.getByLabel("Filter by name or kind").fill("cluster-777");
    await box(page, "cluster/cluster-777").waitFor();
    await box(page, "cluster_load_assignment/cluster-777").waitFor();
    await page.getByRole("button", { name: "Show all" }).click();

    await page.getByRole("button", { name: "Open all" }).click();
    await page.getByText(`All ${names.toLocaleString("en")} names are drawn.`).waitFor();
    await page.getByRole("button", { name: "Fit" }).click();
    await drawn(page, names);

    await page.evaluate(() => {
      const seen = { tasks: [0], changes: 0 };
      new PerformanceObserver((list) => list.getEntries().forEach((e) => seen.tasks.push(e.duration))).observe({ entryTypes: ["longtask"] });
      const boxes = document.querySelector(".picture .boxes");
      if (boxes) new MutationObserver((all) => (seen.changes += all.length)).observe(boxes, { childList: true, subtree: true, attributes: true });
      Object.assign(globalThis, { seen });
    });
    await page.locator(".picture").hover();
    for (const step of [1, 2, 3]) {
      const before = await transform(page);
      await page.mouse.wheel(0, -600);
      await page.mouse.down();
      await page.mouse.move(900 + step * 40, 300 + step * 60, { steps: 10 });
      await page.mouse.up();
      await zoomed(page, before);
    }
    const seen = await page.evaluate(() => (globalThis as unknown as { seen: { tasks: number[]; changes: number } }).seen);
    assert.equal(seen.changes, 0, "moving redraws nothing");
    t.diagnostic(`zooming and moving ${names} boxes: the longest task took ${Math.round(Math.max(...seen.tasks))} ms`);

    for (let step = 0; step < 3; step++) await page.mouse.wheel(0, -600);
    await page.locator(".boxes:not(.far)").waitFor();
    assert.ok((await page.locator("[data-box]").count()) < names / 2, "near by, only what is seen is drawn");
  });
});
