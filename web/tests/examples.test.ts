import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { startEngine } from "../rules/engine.ts";
import { barriers } from "./axe.ts";
import { visit, visitAlone } from "./playground.ts";

const ask = await startEngine();
const rules = ask("about", {}).rules.filter(({ id }) => ask("explain", { rule: id, files: {} }).bad);

const dialog = (page: Page) => page.getByRole("dialog");
const option = (page: Page, name: string | RegExp = "") => dialog(page).getByRole("option", { name });
const bar = (page: Page) => page.locator("[data-example]");
const finding = (page: Page, rule: string) => page.locator(`.panels a[href="./rules/${rule}.html"]`).first();
const counted = (page: Page, words: string) => page.locator("[role=tabpanel]").getByText(words, { exact: true }).first().waitFor();
const open = (page: Page, name: string) => page.evaluate((example) => (location.hash = `example=${example}`), name);

async function search(page: Page, words: string): Promise<void> {
  await page.getByRole("button", { name: "Examples" }).click();
  await option(page, /^schema\/constraint/).waitFor();
  await page.keyboard.type(words);
}

test("the example of every rule loads and shows its finding", { timeout: 10 * 60_000 }, () =>
  visit(async (page) => {
    const silent = await page.evaluate(async (ids) => {
      const until = async (there: () => unknown) => {
        for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((done) => setTimeout(done, 10))) {
          if (there()) return true;
        }
        return false;
      };
      const missing: string[] = [];
      for (const id of ids) {
        if (missing.length > 3) break;
        location.hash = `example=${id}`;
        const shown = await until(() => document.querySelector(`[data-example="${id}"]`) && document.querySelector(`.panels a[href="./rules/${id}.html"]`));
        if (!shown) missing.push(id);
      }
      return missing;
    }, rules.map(({ id }) => id));
    assert.deepEqual(silent, []);
    assert.ok(rules.length > 150, `${rules.length} examples`);
    console.log(`${rules.length} examples load and show their finding`);
  }));

test("an example is found by words and chosen with the keyboard alone", () =>
  visit(async (page) => {
    await page.getByRole("button", { name: "Examples" }).focus();
    await page.keyboard.press("Enter");
    await option(page, /^schema\/constraint/).waitFor();
    await page.keyboard.type("does not exist mirror");
    await option(page).nth(0).filter({ hasText: "reference/mirror-unknown-cluster" }).waitFor();
    assert.equal(await option(page).count(), 1);
    await dialog(page).getByText("1 example.").waitFor();
    await page.keyboard.press("Enter");
    await dialog(page).waitFor({ state: "detached" });
    await bar(page).filter({ hasText: "reference/mirror-unknown-cluster" }).waitFor();
    await finding(page, "reference/mirror-unknown-cluster").waitFor();
    assert.ok(await page.getByRole("button", { name: "Examples" }).evaluate((button) => button === document.activeElement), "the focus is back");
  }));

test("the arrows go through the list, and say where they are", () =>
  visit(async (page) => {
    await search(page, "secret");
    const names = (await option(page).allInnerTexts()).map((text) => text.split(/\s/)[0]);
    assert.ok(names.length > 2);
    const current = async () => (await dialog(page).getByRole("option", { selected: true }).innerText()).split(/\s/)[0];
    assert.equal(await current(), names[0]);
    await page.keyboard.press("ArrowDown");
    assert.equal(await current(), names[1]);
    const active = await dialog(page).getByRole("combobox").getAttribute("aria-activedescendant");
    assert.equal(active, `example-${names[1]}`);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    assert.equal(await current(), names.at(-1), "from the first to the last");
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    assert.ok(await page.getByRole("button", { name: "Examples" }).evaluate((button) => button === document.activeElement));
    await search(page, "nothing is called this");
    await page.getByText("No example contains these words.").waitFor();
  }));

test("an example is fixed and broken again", () =>
  visit(async (page) => {
    await search(page, "route-unknown-cluster");
    await option(page, /^reference\/route-unknown-cluster/).click();
    await finding(page, "reference/route-unknown-cluster").waitFor();
    await page.getByRole("button", { name: "Show the fix" }).click();
    await bar(page).filter({ hasText: "Fixed example" }).waitFor();
    await finding(page, "reference/route-unknown-cluster").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Show the mistake" }).click();
    await finding(page, "reference/route-unknown-cluster").waitFor();
    assert.equal(await page.getByRole("link", { name: /About this rule/ }).getAttribute("href"), "./rules/reference/route-unknown-cluster.html");
    assert.equal(await page.getByRole("button", { name: "Bring back my texts" }).count(), 0, "nothing was typed that would be missed");
  }));

test("an example in which nothing was typed is not offered back, not even after a reload", () =>
  visit(async (page) => {
    await bar(page).filter({ hasText: "schema/constraint" }).waitFor();
    await page.reload();
    await page.locator(".cm-content").filter({ hasText: "70000" }).waitFor();
    await open(page, "schema/bad-value");
    await bar(page).filter({ hasText: "schema/bad-value" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Bring back my texts" }).count(), 0);
  }, "/#example=schema/constraint"));

test("what was chosen last is shown, even if something else takes longer", () =>
  visitAlone(async (page, context) => {
    let release = () => {};
    const wait = new Promise<void>((done) => (release = done));
    await context.route("**/*.wasm", async (route) => {
      await wait;
      await route.continue();
    });
    await page.goto("about:blank");
    await page.goto("/#example=schema/constraint"); // waits for the engine
    await page.getByRole("button", { name: "Examples" }).click();
    await option(page, /^An edge proxy that works/).click();
    await bar(page).filter({ hasText: "An edge proxy that works" }).waitFor();
    release();
    await page.getByText("No problems in 1 file").waitFor();
    await page.locator(".cm-content").focus();
    await page.keyboard.insertText("nonsense: 1\n"); // asked after the example of the rule was
    await page.locator(".problem", { hasText: "nonsense" }).waitFor();
    assert.match(await bar(page).innerText(), /An edge proxy that works/);
  }));

test("the example of a rule about pushes opens the comparison", () =>
  visit(async (page) => {
    await finding(page, "transition/route-before-cluster").waitFor();
    await page.getByRole("tab", { name: "Compare", selected: true }).waitFor();
    await page.getByRole("tablist", { name: "Texts before" }).waitFor();
  }, "/#example=transition/route-before-cluster"));

test("whole configurations show what they promise", () =>
  visit(async (page) => {
    await open(page, "storefront");
    await counted(page, "3 errors");
    await counted(page, "1 warning");
    await page.getByRole("button", { name: "Show the fix" }).click();
    await page.getByRole("tabpanel", { name: "Problems" }).getByText(/^No problems/).first().waitFor();
    await open(page, "config-dump");
    await finding(page, "reference/route-unknown-cluster").waitFor();
    await open(page, "envoyfilter");
    await finding(page, "schema/unknown-field").waitFor();
    await finding(page, "schema/constraint").waitFor();
    await open(page, "push");
    await finding(page, "transition/route-before-cluster").waitFor();
    await open(page, "storefront-fixed");
    await page.getByRole("tabpanel", { name: "Problems" }).getByText(/^No problems/).first().waitFor();
  }));

for (const colorScheme of ["light", "dark"] as const) {
  test(`the menu is accessible: ${colorScheme}`, () =>
    visit(
      async (page) => {
        await search(page, "cluster");
        assert.deepEqual(await barriers(page, "body"), []);
      },
      "/#example=storefront",
      { colorScheme, viewport: { width: 390, height: 844 } },
    ));
}
