// `make bench-web`: measures the playground in a real browser, and puts the figures into docs/performance.md and the pictures into docs/images.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { dist } from "../serve.ts";
import { launch } from "../tests/chromium.ts";
import { opened } from "../tests/opened.ts";
import { mb, median, ms, quantile, table, worst } from "./figures.ts";
import { followInBrowser, holesInBrowser, lintInBrowser, lintNatively, parseInBrowser } from "./lint.ts";
import { openings, type Opening } from "./opening.ts";
import { screenshots } from "./screenshots.ts";
import { bootstrap, linesOf } from "./texts.ts";
import { tasksWhileTyping } from "./typing.ts";

const page = fileURLToPath(new URL("../../docs/performance.md", import.meta.url));

function sizes(): string {
  const assets = join(dist, "assets");
  const bytes = (path: string) => (existsSync(path) ? statSync(path).size : 0);
  const rows = readdirSync(assets)
    .filter((name) => /\.(wasm|js|css)$/.test(name))
    .map((name) => ({ name, raw: bytes(join(assets, name)), brotli: bytes(join(assets, `${name}.br`)) }));
  const sum = (of: typeof rows) => [mb(of.reduce((all, { raw }) => all + raw, 0)), mb(of.reduce((all, { brotli }) => all + brotli, 0))];
  const size = (what: string, which: RegExp, aim = "") => [what, ...sum(rows.filter(({ name }) => which.test(name))), aim];
  return table(
    ["loaded", "raw", "brotli", "aim"],
    [
      size("the engine", /^engine-.*\.wasm$/, "5.3 MB as brotli"),
      size("the larger engine, for constraints and requests", /^larger-.*\.wasm$/),
      size("scripts and styles, all together", /\.(js|css)$/),
    ],
  );
}

async function opening(browser: Browser, url: string): Promise<string> {
  const all = await openings(browser, url, 10);
  const line = (what: string, of: keyof Opening, aim = "") => {
    const times = all.map((one) => one[of]);
    return [what, ms(median(times)), ms(worst(times)), aim];
  };
  return table(
    ["since the navigation, empty cache", "median of 10", "worst", "aim"],
    [
      line("the engine is downloaded and compiled", "compiled"),
      line("… started", "started"),
      line("… has linted the opening example", "answered"),
      line("the findings are shown", "shown", "1,000 ms"),
    ],
  );
}

async function lints(browser: Browser, url: string): Promise<string> {
  const context = await browser.newContext({ bypassCSP: true });
  const tab = await context.newPage();
  await tab.goto(url);
  await tab.waitForFunction(() => performance.getEntriesByName("xdslint:first-findings").length > 0);
  const rows: string[][] = [];
  const runs = 50;
  for (const lines of [200, 5000]) {
    const text = bootstrap(lines);
    const name = `${linesOf(text).toLocaleString("en")} lines (${Math.round(text.length / 1000)} kB)`;
    const add = (what: string, times: number[], aim = "") => rows.push([name, what, ms(median(times)), ms(quantile(times, 0.95)), aim]);
    add("lint, in the worker", await lintInBrowser(tab, text, runs), "16 ms");
    add("the same engine natively", lintNatively(text, runs));
    add("following a request, another one each time", await followInBrowser(tab, text, false, runs));
    add("following a request, the text changed each time", await followInBrowser(tab, text, true, runs));
    add("looking for holes (median of 5)", await holesInBrowser(tab, text, 5));
    add("only parsing it, with the JavaScript library `yaml`", await parseInBrowser(tab, text, runs));
  }
  await context.close();
  return table(["text", "what", "median of 50", "p95", "aim"], rows);
}

async function typing(browser: Browser, url: string): Promise<string> {
  const text = bootstrap(5000);
  const context = await browser.newContext();
  const tab = await context.newPage();
  await tab.goto(url + opened({ "envoy.yaml": text }));
  await tab.waitForFunction(() => performance.getEntriesByName("xdslint:first-findings").length > 0);
  const { elapsed, processor } = await tasksWhileTyping(browser, tab, 50);
  await context.close();
  const line = (what: string, times: number[], aim = "") => [what, ms(worst(times)), ms(quantile(times, 0.99)), aim];
  return table(
    ["typing 50 keys into the 5,000 lines", "longest", "p99", "aim"],
    [line("tasks of the main thread", elapsed, "50 ms"), line("their processor time", processor)],
  );
}

// In its own process, because this one is busy with the browser.
const server = spawn(process.execPath, [fileURLToPath(new URL("../serve.ts", import.meta.url)), "0"]);
const browser = await launch();
try {
  const [url = ""] = /http:\S+(?=\/ )/.exec(String(await once(server.stdout, "data"))) ?? [];
  const parts = [sizes()];
  for (const part of [opening, lints, typing]) {
    parts.push(await part(browser, url));
    console.log(parts.at(-1));
  }
  const text = readFileSync(page, "utf8");
  const written = text.replace(/(<!-- figures of make bench-web -->\n)[^]*(<!-- end -->)/, (_, begin, end) => `${begin}\n${parts.join("\n\n")}\n\n${end}`);
  if (written === text) throw new Error(`${page} has no place for the figures`);
  writeFileSync(page, written);
  await screenshots(browser, url);
} finally {
  await browser.close();
  server.kill();
}
