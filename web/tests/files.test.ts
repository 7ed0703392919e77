// Tabs of texts, and the ways to import files.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { choose, openFiles } from "./menu.ts";
import { visit, visitAlone } from "./playground.ts";

const tabs = (page: Page, list = "Texts") => page.getByRole("tablist", { name: list, exact: true });
const names = (page: Page, list = "Texts") => tabs(page, list).locator(".name").allTextContents();
const editor = (page: Page) => page.getByRole("textbox", { name: /^Text of/ });

const cluster = (name: string) => `name: ${name}\n"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nconnect_timeout: -1s\n`;

test("texts are opened, chosen, renamed and closed by keyboard", () =>
  visit(async (page) => {
    await page.getByRole("button", { name: "New text" }).click();
    assert.deepEqual(await names(page), ["envoy.yaml", "envoy-2.yaml"]);
    const second = tabs(page).getByRole("tab", { name: "envoy-2.yaml" });
    assert.equal(await second.getAttribute("aria-selected"), "true");
    assert.equal(await editor(page).innerText(), "\n");

    await second.focus();
    await page.keyboard.press("F2");
    await page.keyboard.insertText("clusters");
    await page.keyboard.press("Enter");
    const renamed = tabs(page).getByRole("tab", { name: "clusters.yaml" });
    await renamed.waitFor();
    await page.waitForFunction(() => document.activeElement?.textContent?.includes("clusters.yaml"));

    await page.keyboard.press("ArrowLeft");
    await page.getByRole("textbox", { name: "Text of envoy.yaml" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Delete");
    await renamed.waitFor({ state: "detached" });
    await page.waitForFunction(() => document.activeElement?.textContent?.includes("envoy.yaml"));
    await page.keyboard.press("Delete");
    await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "tab");
    assert.deepEqual(await names(page), ["envoy.yaml"], "something to type into is left");
    assert.equal(await editor(page).innerText(), "\n");
  }));

test("a text keeps its name when the new one cannot be", () =>
  visit(async (page) => {
    await page.getByRole("button", { name: "New text" }).click();
    await tabs(page).getByRole("tab", { name: "envoy-2.yaml" }).dblclick();
    const field = page.getByRole("textbox", { name: "Name of envoy-2.yaml" });
    await field.fill("envoy.yaml");
    await field.press("Enter");
    assert.equal(await field.evaluate((e: HTMLInputElement) => e.validationMessage), "Another text already has this name.");
    await field.press("Escape");
    await field.waitFor({ state: "detached" });
    assert.deepEqual(await names(page), ["envoy.yaml", "envoy-2.yaml"]);
    await tabs(page).getByRole("tab", { name: "envoy-2.yaml" }).dblclick();
    await field.fill("../<b>odd</b> & naïve 名.yaml");
    await field.press("Enter");
    await tabs(page).getByRole("tab", { name: "../<b>odd</b> & naïve 名.yaml" }).waitFor();
    await page.getByRole("button", { name: "New text" }).click();
    await tabs(page).getByRole("tab", { name: "envoy-2.yaml" }).dblclick();
    await page.getByRole("textbox", { name: "Name of" }).fill("__proto__");
    await page.keyboard.press("Enter");
    await editor(page).fill(cluster("a"));
    await tabs(page).getByRole("tab", { name: "__proto__" }).locator(".count").waitFor();
  }));

test("the mouse closes a text, and the tab of each says how many errors it has", () =>
  visit(async (page) => {
    const first = tabs(page).getByRole("tab", { name: "envoy.yaml 3 errors" });
    await first.waitFor();
    await page.getByRole("button", { name: "New text" }).click();
    await first.locator(".close").click();
    assert.deepEqual(await names(page), ["envoy-2.yaml"]);
  }));

test("the menu opens files, which replace the unedited example", () =>
  visit(async (page) => {
    const given = { name: "a.yaml", mimeType: "", buffer: Buffer.from(cluster("a")) };
    const binary = { name: "b.yaml", mimeType: "", buffer: Buffer.from([0, 1, 2]) };
    await openFiles(page, [given, binary]);
    await page.getByText("Opened a.yaml. Skipped: b.yaml is binary.").waitFor();
    assert.deepEqual(await names(page), ["a.yaml"]);
    await page.getByRole("link", { name: "schema/constraint" }).first().waitFor();
    await openFiles(page, { ...given, name: "c.yaml" });
    await page.getByText("Opened c.yaml.").waitFor();
    assert.deepEqual(await names(page), ["a.yaml", "c.yaml"]);
    await page.getByRole("button", { name: "Close this message" }).click();
    await page.getByText("Opened c.yaml.").waitFor({ state: "detached" });
  }));

/** Makes a folder of files, and removes it when use has ended. */
async function withFolder(files: Record<string, string>, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "playground-"));
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("the menu opens a folder: what has an extension of xDS, named as seen from there", () =>
  withFolder({ "a.yaml": cluster("a"), "sub/b.JSON": "{}", "sub/notes.md": "#", ".git/c.yaml": "", ".xdslint.yaml": "targets: [envoy:1.39]\n" }, (folder) =>
    visit(async (page) => {
      await openFiles(page, folder, () => choose(page, "Open folder…"));
      await page.getByText("Opened 3 files.").waitFor();
      assert.deepEqual((await names(page)).sort(), [".xdslint.yaml", "a.yaml", "sub/b.JSON"]);
      await page.getByRole("option", { name: "From .xdslint.yaml" }).waitFor({ state: "attached" });
    }),
  ));

/** Drops files and folders on the page, as the browser does. Their entries come from tree. */
async function drop(page: Page, tree: Record<string, unknown>, zone?: string): Promise<void> {
  await tabs(page, zone ? "Texts before" : "Texts").waitFor();
  await page.evaluate(
    ([tree, zone]) => {
      const entry = (path: string, content: unknown): object => {
        const name = path.slice(path.lastIndexOf("/") + 1);
        const shared = { name, fullPath: path };
        if (typeof content === "string") return { ...shared, isFile: true, isDirectory: false, file: (done: (file: File) => void) => done(new File([content], name)) };
        const children = Object.entries(content as object).map(([child, inner]) => entry(`${path}/${child}`, inner));
        return {
          ...shared,
          isFile: false,
          isDirectory: true,
          createReader: () => ({ readEntries: (done: (some: object[]) => void) => done(children.splice(0, 2)) }), // in portions, as browsers do
        };
      };
      const entries = Object.entries(tree as object).map(([name, content]) => entry(`/${name}`, content));
      const data = new DataTransfer();
      data.items.add(new File([], "any"));
      const items = entries.map((e) => ({ webkitGetAsEntry: () => e }));
      const event = (type: string) => {
        const made = new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data });
        Object.defineProperty(made, "dataTransfer", { value: { types: ["Files"], items } });
        return made;
      };
      document.body.dispatchEvent(event("dragenter"));
      return new Promise<void>((done) =>
        requestAnimationFrame(() => {
          (document.querySelector(zone ? `.zone[data-side=${zone}]` : ".zone") ?? document.body).dispatchEvent(event("drop"));
          done();
        }),
      );
    },
    [tree, zone] as const,
  );
}

test("a dropped folder is opened with all that is below it", () =>
  visit(async (page) => {
    await drop(page, { envoy: { "a.yaml": cluster("a"), "b.yml": cluster("b"), "README.md": "", clusters: { "c.json": "{}", "d.txtpb": "", ".hidden": { "e.yaml": "" } } } });
    await page.getByText("Opened 4 files.").waitFor();
    assert.deepEqual(await names(page), ["a.yaml", "b.yml", "clusters/c.json", "clusters/d.txtpb"]);
    await drop(page, { "notes.txt": "x" });
    await page.getByText("Opened notes.txt.").waitFor();
    assert.equal((await names(page)).length, 5);
    await drop(page, { empty: { "x.md": "" } });
    await page.getByText("No file in this folder has a known extension").waitFor();
  }));

test("too many files, or too large ones, are rejected as a whole", () =>
  visit(async (page) => {
    await drop(page, { many: Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`${i}.yaml`, ""])) });
    await page.getByText("501 files in total is more than the limit of 500 files and 20 MB").waitFor();
    await drop(page, { "large.yaml": "#".repeat(21 << 20) });
    await page.getByText("21 MB in total is more than the limit").waitFor();
    assert.deepEqual(await names(page), ["envoy.yaml"]);
  }));

test("in a comparison, files are dropped on one of its sides", () =>
  visit(async (page) => {
    await page.getByRole("tab", { name: "Compare" }).click();
    await page.getByRole("button", { name: "Compare with these texts" }).click();
    await drop(page, { "old.yaml": cluster("a") }, "before");
    await page.getByText("Opened old.yaml.").waitFor();
    assert.deepEqual(await names(page, "Texts before"), ["envoy.yaml", "old.yaml"]);
    assert.deepEqual(await names(page, "Texts after"), ["envoy.yaml"]);
  }));

const dump = JSON.stringify({ configs: [{ "@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump", static_clusters: [{ cluster: { "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "a", connect_timeout: "-1s" } }] }] }, null, 1);

/** Pastes a text into what has the focus. */
const paste = (page: Page, text: string) =>
  page.evaluate((pasted) => {
    const data = new DataTransfer();
    data.setData("text/plain", pasted);
    (document.activeElement ?? document.body).dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: data }));
  }, text);

test("a config_dump that is pasted into an empty text is named after what it is, and checked", () =>
  visit(async (page) => {
    await page.getByRole("button", { name: "New text" }).click();
    await editor(page).focus();
    await paste(page, dump);
    await tabs(page).getByRole("tab", { name: "config_dump.json" }).waitFor();
    await tabs(page).getByRole("tab", { name: "config_dump.json" }).locator(".count").waitFor();
    assert.match(await editor(page).innerText(), /ClustersConfigDump/);
  }));

test("a text that is pasted where no field is becomes one of its own", () =>
  visit(async (page) => {
    await tabs(page).getByRole("tab", { name: "envoy.yaml" }).focus();
    await paste(page, dump);
    await tabs(page).getByRole("tab", { name: "config_dump.json" }).waitFor();
    assert.deepEqual(await names(page), ["envoy.yaml", "config_dump.json"]);
  }));

test("the configuration starts as a template that is right", () =>
  visit(async (page) => {
    await choose(page, "New .xdslint.yaml");
    await page.getByRole("textbox", { name: "Text of .xdslint.yaml" }).waitFor();
    await page.getByRole("option", { name: "From .xdslint.yaml" }).waitFor({ state: "attached" });
    await tabs(page).getByRole("tab", { name: "envoy.yaml 3 errors" }).waitFor();
    assert.equal(await tabs(page).getByRole("tab", { name: ".xdslint.yaml" }).locator(".count").count(), 0);
    await page.getByRole("button", { name: "File" }).click();
    assert.equal(await page.getByRole("menuitem", { name: /New .xdslint.yaml/ }).count(), 0, "there is one only");
  }));

test("a text is downloaded as it is", () =>
  visit(async (page) => {
    await editor(page).fill("a: 1\nb: ä\n");
    const download = page.waitForEvent("download");
    await choose(page, "Download envoy.yaml");
    const file = await download;
    assert.equal(file.suggestedFilename(), "envoy.yaml");
    assert.equal(await readFile(await file.path(), "utf8"), "a: 1\nb: ä\n");
  }));

test("a reload keeps the texts, and nothing is kept for another tab", () =>
  visitAlone(async (page, context) => {
    await page.getByRole("button", { name: "New text" }).click();
    await editor(page).fill(cluster("kept"));
    await page.reload();
    await page.getByRole("textbox", { name: "Text of envoy-2.yaml" }).waitFor();
    assert.match(await editor(page).innerText(), /kept/);
    assert.deepEqual(await names(page), ["envoy.yaml", "envoy-2.yaml"]);
    assert.deepEqual(await page.evaluate(() => Object.entries(localStorage).filter(([, value]) => value.includes("kept"))), []);
    const other = await context.newPage();
    await other.goto(page.url());
    await editor(other).waitFor();
    assert.deepEqual(await names(other), ["envoy.yaml"]);
  }));

test("a reload keeps a comparison of more texts than are opened at once", () =>
  visit(async (page) => {
    await openFiles(page, Array.from({ length: 260 }, (_, i) => ({ name: `${i}.yaml`, mimeType: "text/plain", buffer: Buffer.from(cluster(`c${i}`)) })));
    await page.getByRole("tab", { name: "Compare" }).click();
    await page.getByRole("button", { name: "Compare with these texts" }).click();
    await page.getByRole("tablist", { name: "Texts before" }).waitFor();
    await page.reload();
    await page.getByRole("tablist", { name: "Texts before" }).waitFor();
    assert.equal(await page.locator(".text-tab").count(), 520);
  }));
