// A warm lint in the page's worker, and comparisons.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { build } from "vite";
import type { Kind } from "../src/engine/kinds.ts";
import type { Operation } from "../src/engine/shapes.ts";
import type { FromWorker, ToWorker } from "../src/engine/worker.ts";

/** Runs before measuring, in which V8 optimises. */
const warmUp = 50;

/** Lints the text repeatedly, changed a little each time, and returns the milliseconds from question to parsed answer. */
export const lintInBrowser = (page: Page, text: string, runs: number) => askInBrowser(page, { kind: "smaller", operation: "lint", text, edit: true, runs });

/** Follows a request repeatedly: another one each time, or one through another text. */
export const followInBrowser = (page: Page, text: string, edit: boolean, runs: number) => askInBrowser(page, { kind: "larger", operation: "follow", text, edit, runs });

/** Looks for holes repeatedly. */
export const holesInBrowser = (page: Page, text: string, runs: number) => askInBrowser(page, { kind: "larger", operation: "holes", text, edit: false, runs });

interface Asking {
  kind: Kind;
  operation: Operation;
  text: string;
  edit: boolean; // the text, each time
  runs: number;
}

/** Asks an engine of its own, and returns the milliseconds from question to parsed answer. */
function askInBrowser(page: Page, asking: Asking): Promise<number[]> {
  return page.evaluate(
    async ({ kind, operation, text, edit, runs, warmUp }) => {
      const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
      const worker = new Worker(loaded.find((name) => /\/worker-[^/]*\.js$/.test(name)) ?? "", { type: "module" });
      const say = (message: ToWorker) => worker.postMessage(message);
      const heard = () => new Promise<FromWorker>((done) => (worker.onmessage = ({ data }) => done(data)));
      say({ kind, module: undefined });
      while (!("ready" in (await heard())));
      const times: number[] = [];
      for (let i = -warmUp; i < runs; i++) {
        const asked = { text: `GET http://service-${i & 63}.shop.example/api/${i}`, listener: "", sni: "", alpn: "", certificate: "", source: "" };
        const request = { files: { "envoy.yaml": edit ? `${text}# ${i}\n` : text }, targets: [], asked };
        const begun = performance.now();
        const said = heard();
        say({ operation, request });
        const message = await said;
        const { diagnostics, steps, holes } = JSON.parse("answer" in message ? message.answer : "{}");
        if (!diagnostics?.length && !steps?.length && !holes) throw new Error("nothing was found");
        if (i >= 0) times.push(performance.now() - begun);
      }
      worker.terminate();
      return times;
    },
    { ...asking, warmUp: Math.min(warmUp, asking.runs) },
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
