// A warm lint in the page's worker, and comparisons.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { build } from "vite";
import type { FromWorker, ToWorker } from "../src/engine/worker.ts";

/** Runs before measuring, in which V8 optimises. */
const warmUp = 50;

/** Lints the text repeatedly, changed a little each time, and returns the milliseconds from question to parsed answer. */
export function lintInBrowser(page: Page, text: string, runs: number): Promise<number[]> {
  return page.evaluate(
    async ({ text, runs, warmUp }) => {
      const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
      const worker = new Worker(loaded.find((name) => /\/worker-[^/]*\.js$/.test(name)) ?? "", { type: "module" });
      const say = (message: ToWorker) => worker.postMessage(message);
      const heard = () => new Promise<FromWorker>((done) => (worker.onmessage = ({ data }) => done(data)));
      say({ kind: "smaller", module: undefined });
      while (!("ready" in (await heard())));
      const times: number[] = [];
      for (let i = -warmUp; i < runs; i++) {
        const request = { files: { "envoy.yaml": `${text}# ${i}\n` }, targets: [] };
        const begun = performance.now();
        const said = heard();
        say({ operation: "lint", request });
        const message = await said;
        const { diagnostics } = JSON.parse("answer" in message ? message.answer : "{}");
        if (!diagnostics?.length) throw new Error("nothing was found");
        if (i >= 0) times.push(performance.now() - begun);
      }
      worker.terminate();
      return times;
    },
    { text, runs, warmUp },
  );
}

/** Only parses the text with the library yaml, in the same browser. The context must bypass the CSP. */
export async function parseInBrowser(page: Page, text: string, runs: number): Promise<number[]> {
  const entry = fileURLToPath(new URL("browser/index.js", import.meta.resolve("yaml/package.json")));
  const built = await build({ configFile: false, publicDir: false, logLevel: "silent", build: { write: false, lib: { entry, formats: ["iife"], name: "YAML" } } });
  const [output] = Array.isArray(built) ? built : [built];
  if (!output || !("output" in output)) throw new Error("Vite built nothing");
  await page.addScriptTag({ content: output.output[0].code });
  return page.evaluate(
    ({ text, runs, warmUp }) => {
      const times: number[] = [];
      for (let i = -warmUp; i < runs; i++) {
        const begun = performance.now();
        globalThis.YAML.parse(`${text}# ${i}\n`);
        if (i >= 0) times.push(performance.now() - begun);
      }
      return times;
    },
    { text, runs, warmUp },
  );
}

declare global {
  var YAML: typeof import("yaml");
}

/** The same engine without a browser, on this machine. */
export function lintNatively(text: string, runs: number): number[] {
  const repository = fileURLToPath(new URL("../..", import.meta.url));
  const output = execFileSync("go", ["run", "-tags", "gen,grpcnotrace", "./internal/gen/benchengine", "-runs", String(runs)], { cwd: repository, input: text });
  return JSON.parse(output.toString());
}
