// Turns an engine into one that has started already: node preinitialise.ts IN.wasm OUT.wasm
//
// Starting takes long, because the browser has to compile thousands of functions that run only once. So the engine starts and lints here, and its memory
// and globals become the initial ones of the module, as in Wizer. While the engine waits for a call, they hold all of its state.
//
// If this fails, perhaps with a new Go release, OUT is a copy of IN. The page works with either.
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { call, start, type Exports } from "../src/engine/instance.ts";
import type { Host } from "../src/engine/wasi.ts";
import * as wasm from "./wasm.ts";

const example = (name: string) => readFileSync(new URL(`../src/examples/configurations/${name}`, import.meta.url), "utf8");
// With constraints, so that the larger engine prepares CEL as well.
const files = { "envoy.yaml": example("storefront.yaml"), ".xdslint.yaml": example("custom-rules.xdslint.yaml") };
const request = { files, targets: [] };

/** No randomness and a simulated clock, so that the same source gives the same module. */
function host(): Host {
  let ticks = 0n;
  return { nanoseconds: () => ++ticks, random: (bytes) => void bytes.fill(1), print: () => {} };
}

async function run(module: Uint8Array<ArrayBuffer>): Promise<{ engine: Exports; answer: string }> {
  const engine = await start(await WebAssembly.compile(module), host());
  return { engine, answer: call(engine, "lint", request) };
}

async function preinitialise(plain: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const sections = wasm.split(plain);
  const globals = wasm.readGlobals(wasm.body(sections, wasm.section.global));
  const exports = wasm.readExports(wasm.body(sections, wasm.section.export));
  const shown = globals.map((_, index) => ({ name: `global${index}`, kind: wasm.kind.global, index }));
  const open = wasm.put(sections, wasm.section.export, wasm.writeExports([...exports, ...shown]));

  const first = await run(wasm.join(plain, open));
  first.engine.collect();
  const values = shown.map(({ name }) => (first.engine as unknown as Record<string, WebAssembly.Global>)[name]?.value);
  const memory = new Uint8Array(first.engine.memory.buffer as ArrayBuffer);

  let out = wasm.put(sections, wasm.section.memory, wasm.writeMemory(memory.length / 65536));
  out = wasm.put(out, wasm.section.global, wasm.writeGlobals(globals, values));
  out = wasm.put(out, wasm.section.export, wasm.writeExports(exports.filter(({ name }) => name !== "_initialize")));
  out = wasm.put(out, wasm.section.data, wasm.writeData(memory));
  const made = wasm.join(plain, out);
  if ((await run(made)).answer !== first.answer) throw new Error("it answers differently");
  return made;
}

const [input, output] = process.argv.slice(2);
if (!input || !output) throw new Error("usage: node preinitialise.ts IN.wasm OUT.wasm");
try {
  writeFileSync(output, await preinitialise(readFileSync(input)));
} catch (error) {
  console.error(`${output} could not be pre-initialised, so the page starts more slowly: ${error instanceof Error ? error.message : error}`);
  copyFileSync(input, output);
}
