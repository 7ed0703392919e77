// The page itself: its layout, colours, panels and target.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { barriers } from "./axe.ts";
import { visit } from "./playground.ts";

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const problem = (page: Page) => page.getByText('no cluster is named "chekout"').first();

for (const [where, device] of Object.entries({ "a desk": {}, "a phone": phone })) {
  test(`axe finds nothing serious on ${where}, in light and dark`, () =>
    visit(
      async (page) => {
        await problem(page).waitFor({ state: "attached" });
        for (const view of ["Text", "Problems", "Graph", "Request", "Compare"]) {
          const tab = page.getByRole("tab", { name: view, exact: true });
          if ((await tab.count()) === 0) continue; // on a wide screen the text is always visible
          await tab.click();
          await page.getByText("Loading…", { exact: true }).waitFor({ state: "hidden" });
          for (const colorScheme of ["light", "dark"] as const) {
            await page.emulateMedia({ colorScheme });
            assert.deepEqual(await barriers(page, "html"), [], `${view}, ${colorScheme}`);
          }
        }
      },
      "/",
      device,
    ));
}

test("axe finds nothing serious in the menu and while a text is renamed", () =>
  visit(async (page) => {
    await problem(page).waitFor();
    await page.getByRole("button", { name: "File" }).click();
    assert.deepEqual(await barriers(page, "html"), []);
    await page.getByRole("menuitem", { name: /Rename/ }).click();
    assert.deepEqual(await barriers(page, "html"), []);
  }));

test("the panels are tabs that arrows move between", () =>
  visit(async (page) => {
    const tab = (name: string) => page.getByRole("tablist", { name: "Views" }).getByRole("tab", { name });
    await tab("Problems").focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await tab("Graph").getAttribute("aria-selected"), "true");
    assert.equal(await tab("Problems").getAttribute("tabindex"), "-1");
    await page.keyboard.press("End");
    assert.equal(await tab("Compare").evaluate((e) => e === document.activeElement), true);
    await page.keyboard.press("ArrowRight");
    await page.getByRole("tabpanel", { name: "Problems" }).waitFor();
  }));

test("colours follow the system, can be switched, and stay switched", () =>
  visit(
    async (page) => {
      const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      await problem(page).waitFor();
      const dark = await background();
      await page.getByRole("button", { name: "Switch to light colours" }).click();
      const light = await background();
      assert.notEqual(light, dark);
      await page.reload();
      await problem(page).waitFor();
      assert.equal(await background(), light);
      await page.getByRole("button", { name: "Switch to dark colours" }).click();
      assert.equal(await background(), dark);
      await page.emulateMedia({ colorScheme: "light" });
      await page.getByRole("button", { name: "Switch to dark colours" }).waitFor();
      assert.equal(await background(), light);
    },
    "/",
    { colorScheme: "dark" },
  ));

test("the splitter moves by keyboard and pointer, and stays", () =>
  visit(async (page) => {
    const splitter = page.getByRole("separator", { name: "Width of the text" });
    const width = async () => (await page.getByRole("region", { name: "Text", exact: true }).boundingBox())?.width ?? 0;
    const before = await width();
    await splitter.focus();
    await page.keyboard.press("ArrowLeft");
    assert.ok((await width()) < before);
    const box = await splitter.boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + 4, 400);
    await page.mouse.down();
    await page.mouse.move(900, 400, { steps: 3 });
    await page.mouse.up();
    assert.ok(Math.abs((await width()) - 900) < 15);
    await page.reload();
    await splitter.waitFor();
    assert.ok(Math.abs((await width()) - 900) < 15);
  }));

test("a phone shows one thing at a time, and jumps to the text", () =>
  visit(
    async (page) => {
      const text = page.getByRole("region", { name: "Text", exact: true });
      await text.waitFor();
      await page.getByRole("tab", { name: "Problems" }).tap();
      await text.waitFor({ state: "hidden" });
      await problem(page).tap();
      await text.waitFor();
      assert.equal(await page.getByRole("tab", { name: "Text" }).getAttribute("aria-selected"), "true");
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, "nothing is wider than the screen");
    },
    "/",
    phone,
  ));

test("another target gives other findings", () =>
  visit(async (page) => {
    await problem(page).waitFor();
    await page.evaluate(() => (location.hash = "#example=version/too-new"));
    const target = page.getByRole("combobox", { name: "Target" });
    await target.selectOption("envoy:1.36");
    await page.getByRole("link", { name: "version/too-new" }).first().waitFor();
    await target.selectOption("");
    await page.getByRole("link", { name: "version/too-new" }).first().waitFor({ state: "detached" });
  }));

test("clients of gRPC are among the targets, and an example for them chooses one", () =>
  visit(async (page) => {
    await problem(page).waitFor();
    await page.evaluate(() => (location.hash = "#example=grpc/load-balancing-unsupported"));
    const rule = page.getByRole("link", { name: "grpc/load-balancing-unsupported" });
    await rule.first().waitFor();
    const target = page.getByRole("combobox", { name: "Target" });
    assert.equal(await target.inputValue(), "grpc-go:1.85");
    for (const other of ["grpc-core:1.83", "grpc-java:1.85"]) {
      await target.selectOption("");
      await rule.first().waitFor({ state: "detached" });
      await target.selectOption(other);
      await rule.first().waitFor();
    }
  }));

test("the first stop of the keyboard leads past the header, into the text", () =>
  visit(async (page) => {
    await problem(page).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "text");
    assert.equal(new URL(page.url()).hash, "");
  }));

test("a part of the page that cannot be loaded says so", () =>
  visit(async (page) => {
    await problem(page).waitFor();
    await page.route(/assets\/compare-.*\.js/, (route) => route.fulfill({ contentType: "text/javascript", body: "throw new Error()" }));
    await page.getByRole("tab", { name: "Compare" }).click();
    await page.getByRole("alert").getByText("could not be loaded").waitFor();
    await page.getByRole("button", { name: "Reload the page" }).waitFor();
  }));

test("the page itself never scrolls, however long a panel is", () =>
  visit(async (page) => {
    const plan = page.getByRole("region", { name: "Plan" });
    await plan.waitFor();
    await plan.evaluate((element) => element.scrollIntoView());
    assert.deepEqual(await page.evaluate(() => [document.documentElement.scrollHeight - innerHeight, scrollY]), [0, 0]);
  }, "/#example=push"));
