import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { barriers } from "./axe.ts";
import { openFiles } from "./menu.ts";
import { visit } from "./playground.ts";

const panel = (page: Page) => page.getByRole("tabpanel", { name: "Compare" });
const summary = (page: Page) => panel(page).getByRole("status");
const phases = (page: Page) => panel(page).getByRole("region", { name: "Plan" }).locator("> ol > li");
const text = (page: Page) => page.locator(".cm-content");
const selected = (page: Page) => page.evaluate(() => getSelection()?.toString());

const says = (page: Page, words: string | RegExp) => summary(page).filter({ hasText: words }).waitFor();

async function openPanel(page: Page): Promise<void> {
  await page.getByRole("tab", { name: "Compare" }).click();
}

async function openExample(page: Page): Promise<void> {
  await openPanel(page);
  await page.getByRole("button", { name: "Open an example" }).click();
  await says(page, "2 things go wrong");
}

/** Gives the shown text another content. */
async function write(page: Page, content: string): Promise<void> {
  await text(page).focus();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText(content);
}

/** Compares two texts. */
async function compare(page: Page, before: string, after: string): Promise<void> {
  await write(page, before);
  await openPanel(page);
  await page.getByRole("button", { name: "Compare with these texts" }).click();
  await write(page, after);
}

const clusters = (...names: string[]) => names.map((name) => `- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: ${name}, type: STATIC, connect_timeout: 1s}`).join("\n");

test("an example shows what breaks, and the phases in which nothing does", () =>
  visit(async (page) => {
    await openExample(page);
    await says(page, "Pushed all at once, 2 things go wrong. In 3 phases, nothing does.");

    const hazards = panel(page).getByRole("region", { name: "Hazards" }).getByRole("article");
    assert.match(await hazards.nth(0).innerText(), /error cluster "cart-green" is used before Envoy has it: requests for shop\.example\.com, \/cart\/\* at listener "ingress"/);
    assert.match(await hazards.nth(0).innerText(), /503 \(response flag NC\)/);
    assert.match(await hazards.nth(1).innerText(), /error cluster "cart-blue" is removed while still in use/);
    assert.equal(await hazards.nth(0).getByRole("link").getAttribute("href"), "./rules/transition/route-before-cluster.html");

    const rows = await phases(page).all();
    const sent = await Promise.all(rows.map((row) => row.getByRole("list", { name: "Send, in this order" }).locator("> li").allInnerTexts()));
    const lines = sent.map((cells) => cells.map((cell) => cell.split(/\s*\n\s*/).join(" ")));
    assert.deepEqual(lines, [
      ["CDS new cart-green changed orders", "EDS new cart-green sent again orders"],
      ["LDS changed ingress", "RDS new shop-green removed shop-blue"],
      ["CDS removed cart-blue", "EDS removed cart-blue"],
    ]);
    const waits = await Promise.all(rows.map((row) => row.getByRole("list", { name: "Then wait" }).getByRole("listitem").allInnerTexts()));
    assert.deepEqual(waits, [
      ["wait for the ACK of CDS with cart-green, orders, EDS with cart-green, orders (30s at most)"],
      ["wait for the ACK of LDS with ingress, RDS with shop-green (30s at most)", "wait until Envoy no longer asks RDS for shop-blue (10m30s at most)"],
      ["wait for the ACK of CDS without cart-blue (30s at most)"],
    ]);
    await panel(page).getByRole("region", { name: "Notes" }).getByText('cluster "orders" is rebuilt').waitFor();
  }));

test("what is found and what is sent lead to the texts of both sides", () =>
  visit(async (page) => {
    await openExample(page);
    const shows = async (line: number, words: string) => {
      await page.locator(".cm-activeLineGutter", { hasText: String(line) }).first().waitFor();
      await page.locator(".cm-line", { hasText: words }).first().waitFor();
    };
    await panel(page).getByRole("button", { name: "before edge.yaml:25:24" }).click();
    await shows(25, "cart-blue");
    assert.equal(await selected(page), "cart-blue");
    await panel(page).getByRole("button", { name: "after edge.yaml:25:24" }).click();
    await shows(25, "cart-green");
    assert.equal(await selected(page), "cart-green");
    await phases(page).nth(2).getByRole("button", { name: "cart-blue" }).first().click();
    await shows(29, "name: cart-blue");
    await phases(page).nth(1).getByRole("button", { name: "shop-green" }).click();
    await shows(18, "name: shop-green");
  }));

test("the transport changes the answer", () =>
  visit(async (page) => {
    await openExample(page);
    const transport = panel(page).getByRole("combobox", { name: "Transport" });
    assert.equal(await transport.inputValue(), "ads-sotw");
    assert.deepEqual(await transport.getByRole("option").allInnerTexts(), ["ads-sotw", "ads-delta", "sotw", "delta"]);
    await transport.selectOption("ads-delta");
    await says(page, "3 things go wrong");
    await panel(page).getByText('the change of cluster "orders" waits for endpoints that are not sent again').waitFor();
    await phases(page).first().getByText("has policy.overprovisioning_factor: 140").waitFor();
    await panel(page).getByRole("combobox", { name: "Versions" }).selectOption("global");
    await transport.selectOption("ads-sotw");
    await says(page, "2 things go wrong");
  }));

test("the sides can be swapped", () =>
  visit(async (page) => {
    await openExample(page);
    await panel(page).getByRole("button", { name: "Swap" }).click();
    await panel(page).getByText('cluster "cart-blue" is used before Envoy has it').waitFor();
    await phases(page).first().getByRole("button", { name: "cart-blue" }).first().waitFor();
    // The shown text stays, but its side changes.
    await text(page).getByText("name: cart-green", { exact: true }).waitFor();
    await panel(page).getByRole("button", { name: "before edge.yaml:25:24" }).waitFor();
  }));

test("the end of a comparison leaves the texts of after", () =>
  visit(async (page) => {
    await openExample(page);
    await panel(page).getByRole("button", { name: "before edge.yaml:25:24" }).click();
    await text(page).getByText("name: cart-blue", { exact: true }).waitFor();
    await panel(page).getByRole("button", { name: "Stop comparing" }).click();
    await panel(page).getByRole("heading", { name: "What would a push break?" }).waitFor();
    await text(page).getByText("name: cart-green", { exact: true }).waitFor();
  }));

test("what is open is compared with what becomes of it", () =>
  visit(async (page) => {
    await compare(page, clusters("a", "b"), clusters("a", "b"));
    await says(page, "Nothing to push: both sides are the same.");
    await write(page, clusters("a", "c"));
    await phases(page).first().getByRole("button", { name: "c", exact: true }).waitFor();
    await phases(page).first().getByRole("button", { name: "b", exact: true }).waitFor();
    assert.equal(await panel(page).getByRole("region", { name: "Hazards" }).count(), 0);
    await says(page, "Pushed all at once, this makes no request fail that succeeds today.");
  }));

test("there is no plan for a snapshot with errors", () =>
  visit(async (page) => {
    await compare(page, clusters("a"), clusters("a").replace("1s", "soon"));
    await says(page, "The new configuration has errors, so there is no plan: 1 problem.");
    await panel(page).getByRole("region", { name: "Errors in the new configuration" }).getByRole("button", { name: /^after / }).click();
    await page.waitForFunction(() => getSelection()?.toString() === "soon");
    assert.equal(await phases(page).count(), 0);
    await write(page, "{");
    await says(page, /^The comparison failed: /);
    await write(page, clusters("a"));
    await says(page, "Nothing to push");
  }));

test("a change of the bootstrap needs a restart", () =>
  visit(async (page) => {
    const bootstrap = (timeout: string) => `static_resources: {clusters: [{name: control-plane, type: STATIC, connect_timeout: ${timeout}}]}`;
    await compare(page, bootstrap("1s"), bootstrap("2s"));
    await says(page, "Nothing to push: only the bootstrap differs.");
    await panel(page).getByRole("region", { name: "Restart" }).getByRole("button", { name: "control-plane" }).click();
    await page.waitForFunction(() => getSelection()?.toString().includes("control-plane"));
  }));

test("hundreds of resources are folded away behind their count", () =>
  visit(async (page) => {
    const many = Array.from({ length: 300 }, (_, i) => `cluster-${String(i).padStart(3, "0")}`);
    await compare(page, clusters("a"), clusters("a", ...many));
    const cell = phases(page).first();
    await cell.getByText("300").click();
    assert.equal(await cell.getByRole("button", { name: /^cluster-/ }).count(), 100);
    await cell.getByRole("button", { name: "100 of 200 more" }).click();
    await cell.getByRole("button", { name: "100 more" }).click();
    assert.equal(await cell.getByRole("button", { name: /^cluster-/ }).count(), 300);
    await cell.getByRole("button", { name: "cluster-299" }).click();
    await text(page).getByText("cluster-299").waitFor();
  }));

test("files can be opened as one side", () =>
  visit(async (page) => {
    const open = (content: string) => {
      const file = { name: "clusters.yaml", mimeType: "text/yaml", buffer: Buffer.from(content) };
      return openFiles(page, file, () => panel(page).getByRole("button", { name: "Open files…" }).click());
    };
    await openPanel(page);
    await open(clusters("a")); // an unedited example is replaced
    await says(page, "Open the new configuration.");
    await open(clusters("a", "b"));
    await says(page, "Pushed all at once, this makes no request fail that succeeds today.");
    await phases(page).first().getByRole("button", { name: "b", exact: true }).waitFor();
  }));

for (const colorScheme of ["light", "dark"] as const) {
  test(`everybody can read a comparison, when it is ${colorScheme}`, () =>
    visit(
      async (page) => {
        await openPanel(page);
        await page.getByRole("button", { name: "Open an example" }).waitFor();
        assert.deepEqual(await barriers(page, "#panel"), []);
        await openExample(page);
        assert.deepEqual(await barriers(page, "#panel"), []);
      },
      "/",
      { colorScheme },
    ));
}

test("a phone shows what is sent one below the other, and the text when something leads there", () =>
  visit(
    async (page) => {
      await openExample(page);
      const [first, second] = await phases(page).first().getByRole("list", { name: "Send, in this order" }).locator("> li").all();
      const [upper, lower] = [await first?.boundingBox(), await second?.boundingBox()];
      assert.ok(upper && lower && upper.x === lower.x && upper.y + upper.height <= lower.y + 1);
      assert.equal(await panel(page).evaluate((e) => e.scrollWidth > e.clientWidth), false);
      assert.deepEqual(await barriers(page, "#panel"), []);
      await panel(page).getByRole("button", { name: "before edge.yaml:25:24" }).click();
      await text(page).getByText("name: cart-blue", { exact: true }).waitFor();
      assert.equal(await panel(page).isVisible(), false);
    },
    "/",
    { viewport: { width: 390, height: 844 }, hasTouch: true },
  ));
