import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { opened } from "./opened.ts";
import { visit } from "./playground.ts";

const list = (page: Page) => page.getByRole("tabpanel", { name: "Problems" });
const group = (page: Page, name: string) => list(page).getByRole("region", { name: `Problems in ${name}` });
const problems = (page: Page) => list(page).locator(".problem");
const content = (page: Page) => page.locator(".cm-content");
const isFocused = (page: Page, selector: string, text = "") =>
  page.waitForFunction(([s, t]) => document.activeElement?.matches(s) && document.activeElement.textContent?.includes(t), [selector, text] as const);

/** Waits until the selected text is the wanted one. */
const selected = (page: Page, text: string) => page.waitForFunction((wanted) => getSelection()?.toString() === wanted, text);

const twice = `static_resources:
  clusters:
  - {name: a, connect_timeout: 1s}
  - {name: a, connect_timeout: 2s}
`;
const unquoted = "node: {id: 5, cluster: 6}\n";
const quoted = 'node: {id: "5", cluster: "6"}\n';
const deprecated = "static_resources: {clusters: [{name: b, connect_timeout: 1s, http2_protocol_options: {}}]}\n";

test("problems are listed by their texts, and lead to their places", () =>
  visit(async (page) => {
    await list(page).getByRole("button", { name: "3 errors" }).waitFor();
    await list(page).getByRole("button", { name: "1 warning" }).waitFor();
    assert.deepEqual(await list(page).getByRole("heading", { level: 3 }).allInnerTexts(), ["a.yaml\n1", "b.yaml\n3"]);
    const problem = group(page, "b.yaml").getByRole("button", { name: "error: a number (5) where a string is expected: Envoy reads the bare word as a number, in quotes it is a string line 1:12" });
    await problem.click();
    await isFocused(page, ".cm-content");
    await selected(page, "5");
    assert.match((await content(page).getAttribute("aria-label")) ?? "", /b\.yaml/);

    await group(page, "a.yaml").getByRole("button", { name: "a.yaml:3:12" }).click(); // the first of the two
    await selected(page, "a");
    assert.match(await page.locator(".cm-activeLine").innerText(), /1s/);
    assert.equal(await group(page, "a.yaml").getByRole("link").getAttribute("href"), "./rules/schema/duplicate-name.html");
  }, opened({ "a.yaml": twice, "b.yaml": unquoted + deprecated })));

test("on a narrow screen a problem leads to the text, where keys go on", () =>
  visit(
    async (page) => {
      await page.getByRole("tab", { name: /^Problems/ }).click();
      await content(page).waitFor({ state: "hidden" });
      await problems(page).first().getByRole("button").first().press("Enter");
      await isFocused(page, ".cm-content");
      await selected(page, "5");
    },
    opened({ "b.yaml": unquoted }),
    { viewport: { width: 700, height: 800 } },
  ));

test("from the text to the list and back with the keyboard", () =>
  visit(async (page) => {
    await problems(page).first().waitFor();
    await content(page).focus();
    await page.keyboard.press("Control+Shift+M");
    await isFocused(page, ".jump", "(5)");
    await page.keyboard.press("ArrowDown");
    await isFocused(page, ".jump", "(6)");
    await page.keyboard.press("ArrowDown"); // it is the only one
    await isFocused(page, ".jump", "(6)");
    await page.keyboard.press("Home");
    await page.keyboard.press("Tab");
    await isFocused(page, "button.fix");
    await page.keyboard.press("Tab");
    await isFocused(page, "a.rule");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await isFocused(page, ".cm-content");
    await selected(page, "6");
  }, opened({ "b.yaml": unquoted })));

test("the list can be narrowed by severity and by words", () =>
  visit(async (page) => {
    await problems(page).nth(3).waitFor();
    const warnings = list(page).getByRole("button", { name: "1 warning" });
    await warnings.click();
    await problems(page).nth(1).waitFor({ state: "detached" });
    assert.equal(await warnings.getAttribute("aria-pressed"), "true");
    assert.match(await problems(page).innerText(), /deprecated/);
    await warnings.click();
    await problems(page).nth(3).waitFor();

    const filter = list(page).getByRole("searchbox", { name: "Filter the problems" });
    await filter.fill("BAD-value (6)");
    await problems(page).nth(1).waitFor({ state: "detached" });
    assert.match(await problems(page).innerText(), /\(6\)/);
    await filter.fill("nowhere");
    await list(page).getByText("None of the 4 problems matches the filter.").waitFor();
  }, opened({ "a.yaml": twice, "b.yaml": unquoted + deprecated })));

test("a fix from the list shows the text that it changes", () =>
  visit(async (page) => {
    await group(page, "b.yaml").getByRole("button", { name: "put it in quotes (safe)" }).first().click();
    await content(page).getByText('"5"').waitFor();
    await isFocused(page, ".cm-content");
    await problems(page).nth(2).waitFor({ state: "detached" });
    await page.keyboard.press("ControlOrMeta+z");
    await problems(page).nth(2).waitFor();
  }, opened({ "a.yaml": twice, "b.yaml": unquoted })));

test("all safe fixes at once are one step to undo in each text", () =>
  visit(async (page) => {
    await list(page).getByRole("button", { name: "Apply 4 safe fixes" }).click();
    await list(page).getByRole("status").getByText("4 fixes applied").waitFor();
    await list(page).getByText("No problems in 2 files").waitFor();
    await content(page).getByText(quoted.trim()).waitFor();
    await content(page).focus();
    await page.keyboard.press("ControlOrMeta+z");
    await content(page).getByText(unquoted.trim()).waitFor();
    await list(page).getByRole("button", { name: "Apply 2 safe fixes" }).waitFor();
    await group(page, "a.yaml").waitFor();
    await group(page, "b.yaml").waitFor({ state: "detached" });
    assert.equal(await list(page).getByText("4 fixes applied").count(), 0);
  }, opened({ "a.yaml": unquoted, "b.yaml": unquoted })));

test("without problems it says what was checked, what was not, and what is suppressed", () =>
  visit(async (page) => {
    await list(page).getByText("No problems in 1 file").waitFor();
    await list(page).getByText("envoy.yaml: bootstrap").waitFor();
    await list(page).getByText("1 finding suppressed by a comment or by .xdslint.yaml.").waitFor();
    await list(page).getByRole("heading", { name: "Not checked" }).waitFor();
    await list(page).getByText("service.yaml: it is a Kubernetes object (Service)").waitFor();
  }, opened({ "envoy.yaml": twice.replace("2s}", "2s} # xdslint:ignore=schema/duplicate-name -- for the test"), "service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: shop}\nspec: {}\n" })));

test("what is wrong in the configuration is listed, and marked in its text", () =>
  visit(async (page) => {
    await group(page, ".xdslint.yaml").getByRole("button", { name: /no rule or group is named "schema\/nothing" line 2:3/ }).click();
    await selected(page, "schema/nothing");
    await page.locator(".cm-lintRange-error").getByText("schema/nothing").waitFor();
  }, opened({ "envoy.yaml": twice, ".xdslint.yaml": "severities:\n  schema/nothing: error\n" })));

test("screen readers hear what came of a change", () =>
  visit(async (page) => {
    const said = page.locator(".editor [role=status]");
    await said.getByText("1 error, 1 warning").waitFor({ state: "attached" });
    await content(page).focus();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.press("Delete");
    await page.keyboard.insertText("admin: {}");
    await said.getByText("No problems").waitFor({ state: "attached" });
  }, opened({ "a.yaml": deprecated + 'node: {id: 5, cluster: ""}\n' })));

test("of very many problems the first are shown, and more on request", () =>
  visit(async (page) => {
    await list(page).getByRole("button", { name: "1500 errors" }).waitFor();
    assert.equal(await problems(page).count(), 100);
    await list(page).getByText("900 more are not shown.").waitFor();
    await list(page).getByRole("button", { name: "Show 100 more" }).click();
    await problems(page).nth(199).waitFor();
    await list(page).getByText("500 more problems not listed").waitFor();
    await content(page).focus();
    await page.keyboard.insertText("# typed\n");
    await problems(page).first().getByText("4:").waitFor();
  }, opened({ "big.yaml": `static_resources:\n  clusters:\n${Array.from({ length: 1500 }, (_, i) => `  - {name: c${i}, connect_timeout: 1s, wrong: 1}\n`).join("")}` })));

test("where the system chooses the colours, signs that are nothing but colour are still seen", () =>
  visit(
    async (page) => {
      await problems(page).first().waitFor();
      for (const sign of [".problem .severity", ".text-tab[aria-selected=true]", ".cm-lint-marker"]) {
        const seen = await page.locator(sign).first().evaluate((e) => {
          const part = { severity: "::before", "text-tab": "::after" }[e.classList[0] ?? ""];
          return getComputedStyle(e, part).backgroundColor !== getComputedStyle(document.body).backgroundColor;
        });
        assert.ok(seen, sign);
      }
    },
    "/",
    { forcedColors: "active" },
  ));
