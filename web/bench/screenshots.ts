// The pictures of the documentation.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { opened } from "../tests/opened.ts";
import { shrink } from "./png.ts";

const images = fileURLToPath(new URL("../../docs/images", import.meta.url));

export async function screenshots(browser: Browser, url: string): Promise<void> {
  mkdirSync(images, { recursive: true });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light", reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(url);
  await page.getByText("no cluster is named").first().waitFor();
  await save(page, "text");
  await page.getByRole("tab", { name: "Graph" }).click();
  await page.getByRole("group", { name: /^Graph/ }).getByRole("button").first().waitFor();
  await save(page, "graph");
  const guarded = readFileSync(fileURLToPath(new URL("../../testdata/posture/edge.yaml", import.meta.url)), "utf8");
  await page.goto("about:blank");
  await page.goto(url + opened({ "envoy.yaml": guarded }));
  await page.getByRole("button", { name: "Close this message" }).click();
  await page.getByRole("tab", { name: "Request" }).click();
  await page.getByRole("textbox", { name: "Request to follow" }).fill("GET http://pay.example.com/public/docs");
  await page.getByRole("list", { name: "The way of the request" }).getByText("cluster").waitFor();
  await page.getByRole("region", { name: "Holes" }).getByRole("button", { name: "Follow this request" }).first().waitFor();
  await save(page, "request");
  await page.getByRole("tab", { name: "Compare" }).click();
  await page.getByRole("button", { name: "Open an example" }).click();
  await page.getByRole("button", { name: "Close this message" }).click();
  const splitter = page.getByRole("separator", { name: "Width of the text" });
  for (let i = 0; i < 5; i++) await splitter.press("ArrowLeft"); // more room for the plan
  await splitter.blur();
  await page.getByRole("region", { name: "Plan" }).evaluate((plan) => plan.scrollIntoView());
  await save(page, "compare");
  await context.close();
}

async function save(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  writeFileSync(`${images}/playground-${name}.png`, shrink(await page.screenshot({ animations: "disabled", caret: "hide" })));
}
