import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { BrowserContextOptions, Page } from "playwright-core";
import { barriers } from "./axe.ts";
import { openFiles } from "./menu.ts";
import { visit, visitAlone } from "./playground.ts";

// A second implementation of the link format, which existing links depend on.
const link = (content: unknown, version = "1") => `/#p=${version}.${deflateRawSync(typeof content === "string" || Buffer.isBuffer(content) ? content : JSON.stringify(content)).toString("base64url")}`;
const inside = (address: string) => JSON.parse(inflateRawSync(Buffer.from(address.split("#p=1.")[1] ?? "", "base64url")).toString());

const cluster = (name: string, more = "") => `- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: ${name}\n  type: STATIC\n${more}`;
const project = (texts: object[], more = {}) => ({ texts, active: { side: "after", name: "a.yaml" }, target: "", transport: "", versions: "", panel: "problems", ...more });
const one = (text: string) => project([{ side: "after", name: "a.yaml", text }]);

const editor = (page: Page) => page.locator(".cm-content");
const dialog = (page: Page) => page.getByRole("dialog");
const clipboard = { permissions: ["clipboard-read", "clipboard-write"] } satisfies BrowserContextOptions;

async function write(page: Page, content: string): Promise<void> {
  await editor(page).focus();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText(content);
}

/** Asks for a link, which comes without a question. */
async function linkOf(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Copy link" }).click();
  return dialog(page).getByLabel("Link", { exact: true }).inputValue();
}

test("a link restores everything", () =>
  visitAlone(
    async (page, context) => {
      await page.getByRole("tab", { name: /b\.yaml/ }).last().waitFor();
      await page.getByRole("tab", { name: "Graph" }).click();
      await write(page, cluster("ümläut 🚀 edited"));
      const address = await linkOf(page);
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), address);
      await dialog(page).getByRole("heading", { name: "Link copied" }).waitFor();
      assert.deepEqual(inside(address), {
        texts: [
          { side: "before", name: "a.yaml", text: cluster("old") },
          { side: "after", name: "a.yaml", text: cluster("new") },
          { side: "after", name: "b.yaml", text: cluster("ümläut 🚀 edited") },
        ],
        active: { side: "after", name: "b.yaml" },
        target: "envoy:1.38",
        transport: "ads-delta",
        versions: "per-type",
        panel: "graph",
      });

      const other = await context.newPage();
      const asked: string[] = [];
      other.on("request", (request) => asked.push(request.url() + (request.postData() ?? "")));
      await other.goto(address);
      await editor(other).filter({ hasText: "ümläut 🚀 edited" }).waitFor();
      assert.equal(await other.getByRole("tab", { name: "Graph", selected: true }).count(), 1);
      assert.equal(await other.getByLabel("Target").inputValue(), "envoy:1.38");
      const tabs = other.getByRole("tablist", { name: /^Texts/ }).getByRole("tab");
      assert.deepEqual((await tabs.allInnerTexts()).map((text) => text.match(/^\S+/)?.[0]), ["a.yaml", "a.yaml", "b.yaml"]);
      assert.match(await tabs.nth(2).getAttribute("aria-selected") ?? "", /true/);
      await tabs.nth(0).click();
      await editor(other).filter({ hasText: "name: old" }).waitFor();
      await other.getByRole("tab", { name: "Compare" }).click();
      const compare = other.getByRole("tabpanel", { name: "Compare" });
      await compare.getByRole("option", { name: "ads-delta" }).waitFor({ state: "attached" });
      assert.equal(await compare.getByLabel("Transport").inputValue(), "ads-delta");
      assert.equal(await compare.getByLabel("Versions").inputValue(), "per-type");
      assert.deepEqual(asked.filter((url) => url.includes(address.slice(-100))), [], "the content of a link is not sent anywhere");
      assert.equal(new URL(other.url()).hash, "", "nor does it stay in the history");
    },
    link(
      project(
        [
          { side: "before", name: "a.yaml", text: cluster("old") },
          { side: "after", name: "a.yaml", text: cluster("new") },
          { side: "after", name: "b.yaml", text: cluster("b") },
        ],
        { active: { side: "after", name: "b.yaml" }, target: "envoy:1.38", transport: "ads-delta", versions: "per-type", panel: "compare" },
      ),
    ),
    clipboard,
  ));

const password = "correct-horse-battery-staple-9134";
const withSecret = `static_resources:
  secrets:
  - name: upstream
    generic_secret: {secret: {inline_string: ${password}}}
  clusters:
  - {name: a, type: STATIC, connect_timeout: 1s}
`;

test("secrets are named before a link is made, and left out unless the user wants them", () =>
  visit(
    async (page) => {
      await page.evaluate(() => navigator.clipboard.writeText("nothing yet"));
      await page.getByRole("button", { name: "Copy link" }).click();
      await dialog(page).getByRole("heading", { name: "The texts contain keys or tokens" }).waitFor();
      assert.match(await dialog(page).getByRole("listitem").innerText(), /^a\.yaml:4 /);
      assert.ok(!(await dialog(page).innerText()).includes(password), "the secret itself is not shown");
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "nothing yet");

      await page.keyboard.press("Enter"); // the button that has the focus
      await dialog(page).getByText("without the secrets").waitFor();
      const clean = inside(await page.evaluate(() => navigator.clipboard.readText())).texts[0].text;
      assert.ok(!clean.includes(password));
      assert.ok(clean.includes("- {name: a, type: STATIC, connect_timeout: 1s}"), "the rest is there");
      await page.keyboard.press("Escape");

      await page.getByRole("button", { name: "Copy link" }).click();
      await dialog(page).getByRole("button", { name: "Copy link with the secrets" }).click();
      await dialog(page).getByRole("heading", { name: "Link copied" }).waitFor();
      assert.equal(inside(await page.evaluate(() => navigator.clipboard.readText())).texts[0].text, withSecret);
      await page.keyboard.press("Escape");

      await page.getByRole("button", { name: "Copy link" }).click();
      await dialog(page).getByRole("button", { name: "Cancel" }).click();
      await dialog(page).waitFor({ state: "detached" });
      assert.ok(await page.getByRole("button", { name: "Copy link" }).evaluate((button) => button === document.activeElement), "the focus is back");
    },
    link(one(withSecret)),
    clipboard,
  ));

test("a text whose name is broken is looked into as well", () =>
  visit(
    async (page) => {
      await page.getByRole("button", { name: "Copy link" }).click();
      await dialog(page).getByRole("button", { name: "Copy link without the secrets" }).click();
      const address = await dialog(page).getByLabel("Link", { exact: true }).inputValue();
      assert.ok(!JSON.stringify(inside(address)).includes(password));
    },
    link(project([{ side: "after", name: "a\ud800.yaml", text: withSecret }])),
  ));

test("where the browser copies nothing, the link is there to be copied by hand", () =>
  visit(async (page) => {
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    await page.getByRole("button", { name: "Copy link" }).click();
    await dialog(page).getByRole("heading", { name: "Copy this link" }).waitFor();
    await dialog(page).getByLabel("Link", { exact: true }).focus();
    assert.match((await page.evaluate(() => getSelection()?.toString())) ?? "", /#p=1\./);
  }, link(one(cluster("a")))));

/** What no compression makes smaller. */
function noise(length: number): string {
  let state = 1;
  return Array.from({ length }, () => String.fromCharCode(0x4e00 + (state = (state * 48271) % 0x7fffffff) % 0x4000)).join("");
}

test("a long link is copied after a warning, and one that browsers reject is not made", () =>
  visit(
    async (page) => {
      await page.getByRole("button", { name: "Copy link" }).click();
      await dialog(page).getByText(/Many chat and mail programs cut links of more than 32,000/).waitFor();
      await dialog(page).getByRole("button", { name: "Copy link anyway" }).click();
      await dialog(page).getByRole("heading", { name: "Link copied" }).waitFor();
      await page.keyboard.press("Escape");

      await openFiles(page, { name: "large.yaml", mimeType: "text/plain", buffer: Buffer.from(`# ${noise(1_200_000)}`) });
      await page.getByRole("tab", { name: /large\.yaml/ }).waitFor();
      await page.getByRole("button", { name: "Copy link" }).click();
      await dialog(page).getByRole("heading", { name: "Too large for a link" }).waitFor();
      assert.match(await dialog(page).innerText(), /The link would have [\d,]+ characters, and browsers reject links of more than 2,000,000/);
    },
    link(one(`# ${noise(20_000)}\n${cluster("a")}`)),
    clipboard,
  ));

const good = one(cluster("a"));
const hostile: [string, string][] = [
  ["is cut", link(good).slice(0, -20)],
  ["is empty", "/#p=1."],
  ["holds other characters", "/#p=1.%00<script>"],
  ["is not deflated data", "/#p=1.AAAA"],
  ["is of a later version", link(good, "2")],
  ["holds no JSON", link("texts")],
  ["holds null", link("null")],
  ["holds bytes that are not UTF-8", link(Buffer.from([0x22, 0xff, 0xfe, 0x22]))],
  ["holds no texts", link({})],
  ["holds a number as text", link({ ...good, texts: [{ side: "after", name: "a.yaml", text: 1 }] })],
  ["holds an unknown side", link({ ...good, texts: [{ side: "__proto__", name: "a.yaml", text: "" }] })],
  ["holds an unknown panel", link({ ...good, panel: "constructor" })],
  ["holds two texts of one name", link({ ...good, texts: [...good.texts, ...good.texts] })],
  ["holds too many texts", link(project(Array.from({ length: 1001 }, (_, i) => ({ side: "after", name: `${i}.yaml`, text: "" }))))],
  ["is a bomb", link(Buffer.alloc(64 << 20, 0x20))],
  ["names an unknown example", "/#example=<img src=x onerror=alert(1)>"],
  ["names no example", "/#example="],
  ["names one that cannot be decoded", "/#example=%E0%A4%A"],
];

test("a reload while a link is being opened opens it again", () =>
  visitAlone(
    async (_, context) => {
      const page = await context.newPage();
      let slow = true;
      await page.route(/openLink-[^/]*\.js$/, (route) => (slow ? undefined : route.continue()));
      await page.goto(link(one(cluster("theirs"))));
      slow = false;
      await page.reload();
      await editor(page).filter({ hasText: "theirs" }).waitFor();
      assert.equal(new URL(page.url()).hash, "");
    },
    "/",
    { serviceWorkers: "block" },
  ));

test("a damaged or hostile link says so, and the page works", () =>
  visit(async (page) => {
    for (const [what, address] of hostile) {
      await page.goto("about:blank");
      await page.evaluate(() => 0);
      await page.goto(address);
      const alert = page.getByRole("main").getByRole("alert");
      await alert.waitFor();
      assert.match(await alert.innerText(), /This link |This playground has no example/, `a link that ${what}`);
      await page.getByText(/no cluster is named "chekout"/).first().waitFor();
    }
  }));

test("a link that names no text of its own to show shows one that it has", () =>
  visit((page) => page.getByRole("textbox", { name: "Text of a.yaml" }).waitFor(), link({ ...good, active: { side: "before", name: "missing.yaml" } })));

test("a link opened over one's own text takes its place, and gives it back; a reload keeps what was typed since", () =>
  visit(async (page) => {
    await write(page, cluster("mine"));
    await page.evaluate((hash) => (location.hash = hash), link(one(cluster("theirs"))).slice(1));
    await editor(page).filter({ hasText: "theirs" }).waitFor();
    await page.getByRole("status").filter({ hasText: "Opened from a link" }).getByRole("button", { name: "Bring back my texts" }).click();
    await editor(page).filter({ hasText: "mine" }).waitFor();
    assert.equal(await page.getByText("Opened from a link").count(), 0);

    await page.evaluate((hash) => (location.hash = hash), link(one(cluster("theirs"))).slice(1));
    await editor(page).filter({ hasText: "theirs" }).waitFor();
    await write(page, cluster("theirs, and mine"));
    await page.reload();
    await editor(page).filter({ hasText: "theirs, and mine" }).waitFor();
  }));

test("what was typed before a link was followed from another page can be brought back", () =>
  visit(async (page) => {
    await write(page, cluster("mine"));
    await page.goto("/rules/schema/constraint.html");
    await page.getByRole("link", { name: "Open this example in the playground" }).click();
    await page.getByRole("status").filter({ hasText: "schema/constraint" }).getByRole("button", { name: "Bring back my texts" }).click();
    await editor(page).filter({ hasText: "mine" }).waitFor();
  }));

test("a link may ask for a target that the playground does not know", () =>
  visit(
    async (page) => {
      await page.getByText("It asks for the target envoy:7.3, which this playground does not know. envoy:1.40 is used instead.").waitFor();
      await page.getByText(/connect_timeout/).first().waitFor();
    },
    link({ ...one(`static_resources: {clusters: [{name: a, type: STATIC, connect_timeout: 0s}]}`), target: "envoy:7.3" }),
  ));

for (const colorScheme of ["light", "dark"] as const) {
  test(`the dialogs are accessible: ${colorScheme}`, () =>
    visit(
      async (page) => {
        for (const next of [
          () => page.getByRole("button", { name: "Copy link" }).click(),
          () => dialog(page).getByRole("button", { name: "Copy link without the secrets" }).click(),
        ]) {
          await next();
          await dialog(page).getByRole("heading", { name: /keys|copied/ }).waitFor();
          assert.deepEqual(await barriers(page, "body"), []);
        }
      },
      link(one(withSecret)),
      { ...clipboard, colorScheme, viewport: { width: 390, height: 844 } },
    ));
}
