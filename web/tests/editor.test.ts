import assert from "node:assert/strict";
import { test } from "node:test";
import { Text } from "@codemirror/state";
import type { Page } from "playwright-core";
import { changeTo, finder, format, lineEnd, parse, rangeOf } from "../src/editor/positions.ts";
import { opened } from "./opened.ts";
import { visit, visitAlone } from "./playground.ts";

const content = (page: Page) => page.locator(".cm-content");
const marked = (page: Page, severity = "error") => page.locator(`.cm-lintRange-${severity}`);
const hover = (page: Page) => page.locator(".cm-tooltip .hover");

/** The line of an element in the text. */
const lineOf = (page: Page, selector: string) =>
  page.locator(selector).first().evaluate((element) => element.closest(".cm-line")?.textContent);

/** Puts the cursor behind the last character of the text. */
async function toEnd(page: Page): Promise<void> {
  await content(page).focus();
  await page.keyboard.press("ControlOrMeta+End");
}

/** Notes what the editor says to screen readers, which it soon clears away; the answer waits for something of the sort. */
async function listen(page: Page): Promise<(words: string) => Promise<unknown>> {
  const said = await page.locator(".cm-announced").evaluateHandle((element) => {
    const heard: string[] = [];
    new MutationObserver(() => heard.push(element.textContent ?? "")).observe(element, { childList: true, subtree: true });
    return heard;
  });
  return (words) => page.waitForFunction(([heard, wanted]) => heard.some((text) => text.includes(wanted)), [said, words] as const);
}

/** What the project keeps of a text, with its line ends; waits until it is as wanted. */
const kept = (page: Page, name: string, wanted: string) =>
  page.waitForFunction(
    ([file, text]) => {
      const { texts } = JSON.parse(sessionStorage.getItem("xdslint:project") ?? '{"texts":[]}');
      return texts.some((t: { name: string; text: string }) => t.name === file && t.text === text);
    },
    [name, wanted] as const,
  );

const cluster = (name: string, more = "") => `  - {name: ${name}, connect_timeout: 1s${more}}`;
const bootstrap = (...clusters: string[]) => `static_resources:\n  clusters:\n${clusters.join("\n")}\n`;
const routed = (target: string) => `- "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: public
  virtual_hosts:
  - name: shop
    domains: ["*"]
    routes:
    - match: {prefix: /}
      route: {cluster: ${target}}
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: checkout
  connect_timeout: 1s
`;
const unquoted = "node: {id: 5, cluster: edge}\n";
const quoted = 'node: {id: "5", cluster: edge}\n';

test("a position counts code points, the editor UTF-16 units", () => {
  const doc = parse("a\n\t🦊é x🦊y\n");
  const find = finder(doc);
  const at = (line: number, column: number) => doc.sliceString(find({ line, column }), find({ line, column: column + 1 }));
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7].map((column) => at(2, column)), ["\t", "🦊", "é", " ", "x", "🦊", "y"]);
  assert.equal(find({ line: 2, column: 99 }), doc.line(2).to);
  assert.equal(find({ line: 99, column: 1 }), doc.length);
  assert.equal(find({ line: 0, column: 0 }), 0);
});

test("every text comes back as it was", () => {
  for (const text of ["", "a", "a\n", "a\nb", "a\r\nb\r\n", "a\r\nb\n", "a\rb", "\r\n", "\n\r", "a\r\r\nb", "🦊\ud800\r\n\0"]) {
    assert.equal(format(parse(text), lineEnd(text)), text, JSON.stringify(text));
  }
  assert.equal(parse("a\r\nb").lines, 2);
  assert.equal(parse("a\r\nb\nc", "\r\n").lines, 3);
  assert.equal(parse("a\r\nb\n").line(1).text, "a\r"); // line ends of two kinds are shown
});

test("what is marked is never more than a line, nor nothing", () => {
  const doc = parse("one: [\n  two]\n\n");
  const find = finder(doc);
  const position = (line: number, column: number) => ({ line, column, offset: 0 });
  const range = (start?: [number, number], end?: [number, number]) => {
    const { from, to } = rangeOf(doc, find, { file: "", start: start && position(...start), end: end && position(...end) });
    return doc.sliceString(from, to);
  };
  assert.equal(range([1, 1], [1, 4]), "one");
  assert.equal(range([1, 6], [2, 7]), "[");
  assert.equal(range([2, 4], [2, 4]), "two]");
  assert.equal(range(), "one: [");
  assert.equal(range([3, 1], [3, 1]), "");
  assert.equal(range([77, 1], [78, 9]), "");
});

test("the change from one text to another leaves out what they share", () => {
  for (const [a, b] of [["", "x"], ["abc", "abc"], ["aXc", "aYYc"], ["aa", "aaa"], ["a\nb\nc", "a\nc"], ["abc", ""]] as const) {
    const [old, next] = [Text.of(a.split("\n")), Text.of(b.split("\n"))];
    const { from, to, insert } = changeTo(old, next);
    assert.equal(old.replace(from, to, insert).toString(), b);
  }
  assert.deepEqual({ ...changeTo(parse("name: a\nb: c"), parse("name: xy\nb: c")), insert: "xy" }, { from: 6, to: 7, insert: "xy" });
});

test("typed text is checked: the mark is at its place, and is removed with the problem", () =>
  visit(async (page) => {
    await content(page).getByText("clusters").waitFor();
    await page.getByText("No problems in 1 file").waitFor();
    await toEnd(page);
    await page.keyboard.type("nod: {}");
    await marked(page).filter({ hasText: /^nod$/ }).waitFor(); // before that, the mark is that of "nod: {"
    assert.equal(await lineOf(page, ".cm-lintRange-error"), "nod: {}");
    await page.locator(".cm-lint-marker-error").waitFor();
    for (let i = 0; i < ": {}".length; i++) await page.keyboard.press("ArrowLeft");
    await page.keyboard.type("e");
    await marked(page).waitFor({ state: "detached" });
    await page.locator(".cm-lint-marker-error").waitFor({ state: "detached" });
  }, opened({ "envoy.yaml": bootstrap(cluster("a")) })));

test("marks have the right place behind characters of any width", () =>
  visit(async (page) => {
    await marked(page).waitFor();
    assert.equal(await marked(page).innerText(), "conect");
  }, opened({ "envoy.yaml": bootstrap(cluster('"🦊🦊 café\\t語"', ", conect: 1s")) })));

test("a text with Windows line ends is marked at the right place, and keeps them", () =>
  visit(async (page) => {
    await marked(page).waitFor();
    assert.equal(await marked(page).innerText(), "conect");
    await toEnd(page);
    await page.keyboard.type("# end");
    await page.keyboard.press("Enter");
    await kept(page, "envoy.yaml", `${bootstrap(cluster("a"), cluster("b", ", conect: 1s"))}# end\n`.replaceAll("\n", "\r\n"));
  }, opened({ "envoy.yaml": bootstrap(cluster("a"), cluster("b", ", conect: 1s")).replaceAll("\n", "\r\n") })));

test("pointing at a mark shows what is wrong, why the rule exists, and where to read more", () =>
  visitAlone(async (page, context) => {
    await page.locator(".cm-lintRange").hover();
    await hover(page).getByText('no cluster is named "chekout"').waitFor();
    await hover(page).getByText("503").first().waitFor(); // from the rule's page
    assert.match(await hover(page).innerText(), /^(error|warning)/);
    const link = hover(page).getByRole("link", { name: "reference/route-unknown-cluster" });
    assert.equal(await link.getAttribute("href"), "./rules/reference/route-unknown-cluster.html");
    const [rule] = await Promise.all([context.waitForEvent("page"), link.click()]);
    await rule.getByRole("heading", { name: "reference/route-unknown-cluster" }).waitFor();
  }, opened({ "routes.yaml": routed("chekout") })));

test("a quick fix by mouse, and undo", () =>
  visit(async (page) => {
    await marked(page).hover();
    await hover(page).getByRole("button", { name: "put it in quotes (safe)" }).click();
    await marked(page).waitFor({ state: "detached" });
    await kept(page, "envoy.yaml", quoted);
    await page.keyboard.press("ControlOrMeta+z");
    await marked(page).waitFor();
    await kept(page, "envoy.yaml", unquoted);
  }, opened({ "envoy.yaml": unquoted })));

test("a quick fix by keyboard, found with F8", () =>
  visit(async (page) => {
    await marked(page).waitFor();
    const heard = await listen(page);
    await content(page).focus();
    await page.keyboard.press("F8");
    await heard("error: a number (5) where a string is expected");
    await heard("Control period shows the fixes.");
    await page.keyboard.press("Control+.");
    const item = page.getByRole("menuitem", { name: "put it in quotes (safe)" });
    await item.waitFor();
    assert.ok(await item.evaluate((element) => element === document.activeElement));

    await page.keyboard.press("Escape");
    await item.waitFor({ state: "detached" });
    assert.ok(await content(page).evaluate((element) => element === document.activeElement));

    await page.keyboard.press("Control+.");
    await item.waitFor();
    await page.keyboard.press("Enter");
    await marked(page).waitFor({ state: "detached" });
    await kept(page, "envoy.yaml", quoted);

    await page.keyboard.press("Control+.");
    await heard("There is no quick fix in this line.");
  }, opened({ "envoy.yaml": unquoted })));

test("a text is shown before another key can be pressed", () =>
  visit(async (page) => {
    await content(page).waitFor();
    const second = await page.getByRole("tab", { name: "b.json" }).evaluate((tab: HTMLElement) => {
      tab.click();
      return document.querySelector(".cm-content")?.textContent;
    });
    assert.equal(second, '{"two": 2}');
  }, opened({ "a.yaml": bootstrap(cluster("a")), "b.json": '{"two": 2}' })));

test("each text keeps its own history, selection and language", () =>
  visit(async (page) => {
    const go = (name: string) => page.getByRole("tab", { name }).click();
    await toEnd(page);
    await page.keyboard.type("# one");
    await go("b.json");
    await content(page).getByText("two").waitFor();
    assert.equal(await content(page).getAttribute("data-language"), "json");
    await content(page).focus();
    await page.keyboard.press("ControlOrMeta+z"); // nothing was typed here
    await kept(page, "a.yaml", `${bootstrap(cluster("a"))}# one`);
    await kept(page, "b.json", '{"two": 2}');
    await go("a.yaml");
    await content(page).getByText("# one").waitFor();
    assert.equal(await content(page).getAttribute("data-language"), "yaml");
    await content(page).focus();
    await page.keyboard.type("!"); // the cursor is where it was
    await kept(page, "a.yaml", `${bootstrap(cluster("a"))}# one!`);
    for (let i = 0; i < 3; i++) await page.keyboard.press("ControlOrMeta+z");
    await kept(page, "a.yaml", bootstrap(cluster("a")));
  }, opened({ "a.yaml": bootstrap(cluster("a")), "b.json": '{"two": 2}' })));

test("a text that gets another name keeps its history", () =>
  visit(async (page) => {
    await toEnd(page);
    await page.keyboard.type("# x");
    await page.getByRole("tab", { name: "a.yaml" }).press("F2");
    await page.getByRole("textbox", { name: "Name of a.yaml" }).fill("b.json");
    await page.keyboard.press("Enter");
    await page.locator('.cm-content[aria-label="Text of b.json"][data-language=json]').focus();
    await page.keyboard.press("ControlOrMeta+z");
    await kept(page, "b.json", quoted);
  }, opened({ "a.yaml": quoted })));

test("a text that is replaced from outside is shown, and undo brings the old one back", () =>
  visit(async (page) => {
    await content(page).getByText("first").waitFor();
    await page.evaluate((hash) => (location.hash = hash), opened({ "envoy.yaml": bootstrap(cluster("second")) }).slice(1));
    await content(page).getByText("second").waitFor();
    await content(page).focus();
    await page.keyboard.press("ControlOrMeta+z");
    await content(page).getByText("first").waitFor();
    await kept(page, "envoy.yaml", bootstrap(cluster("first")));
  }, opened({ "envoy.yaml": bootstrap(cluster("first")) })));

test("the Tab key indents, and behind Escape it leaves the editor", () =>
  visit(async (page) => {
    await toEnd(page);
    await page.keyboard.press("Tab");
    await kept(page, "envoy.yaml", `${unquoted}  `);
    assert.match((await content(page).getAttribute("aria-describedby")) ?? "", /./);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    assert.ok(await content(page).evaluate((element) => element !== document.activeElement));
    await kept(page, "envoy.yaml", `${unquoted}  `);
  }, opened({ "envoy.yaml": unquoted })));

test("odd characters do no harm", () =>
  visit(async (page) => {
    await page.locator(".cm-lint-marker-error").waitFor(); // in the line behind the last line break
    await toEnd(page);
    await page.keyboard.type("#");
    await kept(page, "odd.yaml", `a: "\0\r\u2028\ufeff\u202e"\r\nb: ${"x".repeat(50_000)}\n#`);
  }, opened({ "odd.yaml": `a: "\0\r\u2028\ufeff\u202e"\r\nb: ${"x".repeat(50_000)}\n` })));

const big = bootstrap(
  ...Array.from({ length: 715 }, (_, i) => `  - name: service-${i}
    type: STRICT_DNS
    connect_timeout: ${i % 97 === 0 ? "1" : "1s"}
    load_assignment:
      cluster_name: service-${i}
      endpoints:
      - lb_endpoints: [{endpoint: {address: {socket_address: {address: service-${i}.shop, port_value: 80}}}}]`),
);

/**
 * Goes to the end of the text, and waits until highlighting has reached it, which is done last. CodeMirror stops when parsing has taken three seconds,
 * as it can on a busy machine, until a key is pressed half a minute later.
 */
async function highlighted(page: Page, word: string): Promise<void> {
  const last = page.locator(".cm-line span").getByText(word, { exact: true }).last();
  for (let left = 300; left > 0; left--) {
    await toEnd(page);
    if (await last.isVisible()) return;
    await page.waitForTimeout(1000);
  }
  assert.fail(`"${word}" at the end is not highlighted`);
}

/** The processor time, in milliseconds, of the longest task of the page's main thread. A clock would also count what else the machine does. */
async function longestTask(page: Page, use: () => Promise<void>): Promise<number> {
  interface Event {
    name: string;
    pid: number;
    tid: number;
    tdur?: number;
    args: { name?: string };
  }
  const events: Event[] = [];
  const tracing = await page.context().newCDPSession(page);
  tracing.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as Event[])));
  await tracing.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["toplevel"] } });
  await use();
  const complete = new Promise((done) => tracing.once("Tracing.tracingComplete", done));
  await tracing.send("Tracing.end");
  await complete;
  const thread = ({ pid, tid }: Event) => `${pid} ${tid}`;
  const main = new Set(events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(thread));
  const tasks = events.filter((event) => event.name.endsWith("RunTask") && main.has(thread(event)));
  assert.ok(tasks.length > 10, "nothing was measured");
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1000));
}

test("a text of 5,000 lines: typing never blocks the page for more than 50 ms", (t) =>
  visit(async (page) => {
    assert.ok(big.split("\n").length > 5000);
    await marked(page).first().waitFor();
    await highlighted(page, "lb_endpoints");
    const longest = await longestTask(page, async () => {
      await page.keyboard.type("nod: {} ##", { delay: 30 });
      await marked(page).getByText("nod").waitFor();
    });
    t.diagnostic(`the longest task: ${longest.toFixed(1)} ms`);
    assert.ok(longest <= 50, `a task took ${longest} ms`);
  }, opened({ "big.yaml": big })));
