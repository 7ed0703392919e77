import assert from "node:assert/strict";
import { test } from "node:test";
import { startEngine } from "../rules/engine.ts";
import { barriers } from "./axe.ts";
import { origin, visit } from "./playground.ts";

const ask = await startEngine();
const { rules } = ask("about", {});
const pages = ["rules/index.html", ...rules.map(({ id }) => `rules/${id}.html`)];

interface Page {
  text: string;
  ids: Set<string>;
  links: string[];
}

async function read(path: string): Promise<Page | null> {
  const response = await fetch(`${origin}/${path}`);
  if (!response.ok || !response.headers.get("Content-Type")?.startsWith("text/html")) return null;
  const text = await response.text();
  const all = (attribute: string) => [...text.matchAll(new RegExp(` ${attribute}="([^"]*)"`, "g"))].map((match) => match[1] ?? "");
  return { text, ids: new Set(all("id")), links: all("href") };
}

test("every rule has a page, with a title and an address of its own", async () => {
  assert.ok(rules.length > 150);
  const titles = new Set<string>();
  for (const { id, summary } of rules) {
    const page = await read(`rules/${id}.html`);
    assert.ok(page, `${id} has a page`);
    assert.match(page.text, /^<!doctype html>\n<html lang="en">/);
    assert.ok(page.text.includes(`<title>${id} · xdslint</title>`), `${id} has its title`);
    assert.match(page.text, new RegExp(`<h1 [^>]*>${id}</h1>`));
    titles.add(id);
    assert.ok(page.text.includes(summary.slice(0, summary.search(/[^\w ,.:;()-]|$/))), `${id} says what it finds`);
    assert.equal(page.links.includes(`../../index.html#example=${id}`), ask("explain", { rule: id, files: {} }).bad !== null, `${id} opens its example`);
    assert.doesNotMatch(page.text, /<script|<!--/);
  }
  assert.equal(titles.size, rules.length);
});

test("every link of every page leads somewhere", async () => {
  const seen = new Map<string, Page | null>();
  const known = new Set(rules.map(({ id }) => id));
  for (const path of pages) seen.set(path, await read(path));
  for (const [from, page] of [...seen]) {
    for (const href of page?.links ?? []) {
      const url = new URL(href.replaceAll("&#38;", "&"), `${origin}/${from}`);
      if (url.origin !== origin) {
        assert.equal(url.protocol, "https:", `${from} links to ${href}`);
        continue;
      }
      const path = url.pathname.slice(1);
      if (!path.endsWith(".html")) {
        assert.ok((await fetch(url)).ok, `${from} needs ${href}`);
        continue;
      }
      if (!seen.has(path)) seen.set(path, await read(path));
      const to = seen.get(path);
      assert.ok(to, `${from} links to ${href}`);
      const example = url.hash.match(/^#example=(.*)/)?.[1];
      if (example !== undefined) assert.ok(known.has(example), `${from} opens ${href}`);
      else if (url.hash) assert.ok(to.ids.has(url.hash.slice(1)), `${from} links to ${href}`);
    }
  }
});

test("the list of the rules leads to each of them", async () => {
  const index = await read("rules/index.html");
  for (const { id, severity } of rules) {
    assert.ok(index?.links.includes(`${id}.html`), `${id} is in the list`);
    assert.ok(index?.text.includes(`${id}</a></td><td class="${severity}">${severity}</td>`), `${id} has its severity`);
  }
});

test("the pages need no script", () =>
  visit(
    async (page) => {
      await page.getByRole("link", { name: "reference/route-unknown-cluster" }).click();
      await page.getByRole("heading", { level: 1, name: "reference/route-unknown-cluster" }).waitFor();
      await page.getByRole("heading", { level: 2, name: "Why" }).waitFor();
      await page.getByRole("link", { name: "Rules" }).click();
      await page.getByRole("heading", { level: 1, name: "Rules" }).waitFor();
    },
    "/rules/index.html",
    { javaScriptEnabled: false },
  ));

for (const colorScheme of ["light", "dark"] as const) {
  test(`the pages are accessible, and fit on a phone: ${colorScheme}`, () =>
    visit(
      async (page) => {
        for (const path of ["rules/index.html", "rules/reference/route-unknown-cluster.html", "rules/transition/address-takeover.html", "rules/suppress/stale-baseline.html"]) {
          await page.goto(`/${path}`);
          assert.deepEqual(await barriers(page, "body"), [], path);
          assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path} does not scroll sideways`);
        }
      },
      "/rules/index.html",
      { colorScheme, viewport: { width: 390, height: 844 } },
    ));
}
