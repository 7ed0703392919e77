// Vite builds the pages of the rules together with the playground.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Plugin } from "vite";
import { startEngine } from "./engine.ts";
import { pagesOf } from "./pages.ts";

const sheets = ["../src/ui/style.css", "./page.css"];

export const rulePages: Plugin = {
  name: "rule-pages",
  apply: "build",
  async generateBundle() {
    const css = (await Promise.all(sheets.map((sheet) => readFile(new URL(sheet, import.meta.url), "utf8")))).join("\n");
    const stylesheet = `assets/rules-${createHash("sha256").update(css).digest("base64url").slice(0, 8)}.css`;
    this.emitFile({ type: "asset", fileName: stylesheet, source: css });
    const ask = await startEngine();
    for (const [path, html] of pagesOf(ask, stylesheet)) this.emitFile({ type: "asset", fileName: `rules/${path}`, source: html });
  },
};
