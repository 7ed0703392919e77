// Makes of an engine one that has started already: node preinitialise.ts IN.wasm wasm_exec.js OUT.wasm
//
// Starting takes a Go program of this size as long as the first lint does: thousands of functions run that never run again, and the browser compiles
// each of them for that. So this is done here, once: the engine starts and lints, and its memory and globals become the initial ones of
// the module (Wizer does the same for WASI). While a Go program waits for its next call all of its state is in these two, except for the
// JavaScript values that it holds: src/engine/go.ts puts those in place.
import { readFileSync, writeFileSync } from "node:fs";
import vm from "node:vm";
import { held, resume, type Go, type Realm } from "../src/engine/go.ts";
import * as wasm from "./wasm.ts";

const [input, runtime, output] = process.argv.slice(2);
if (!input || !runtime || !output) throw new Error("usage: node preinitialise.ts IN.wasm wasm_exec.js OUT.wasm");
const example = (name: string) => readFileSync(new URL(`../src/examples/configurations/${name}`, import.meta.url), "utf8");
// The opening example, with constraints: the larger engine makes its CEL ready, too.
const files = { "envoy.yaml": example("storefront.yaml"), ".xdslint.yaml": example("house-rules.xdslint.yaml") };
const request = JSON.stringify({ files, targets: [] });

/**
 * A global object as poor as a browser's worker: of Node's own, the engine would hold what it does not find there. Without chance and with a clock
 * of its own, so that the same engine comes of the same source.
 */
function realm(): Realm {
  const { TextEncoder, TextDecoder, setTimeout, clearTimeout } = globalThis;
  let ticks = 0;
  class Date {
    static now = () => ticks++;
    getTime = Date.now;
  }
  const performance = { timeOrigin: 0, now: () => ticks++ };
  const crypto = { getRandomValues: (bytes: Uint8Array) => bytes.fill(1) };
  const context = vm.createContext({ console, performance, crypto, Date, TextEncoder, TextDecoder, setTimeout, clearTimeout, WebAssembly, Uint8Array });
  vm.runInContext(readFileSync(runtime as string, "utf8"), context);
  return vm.runInContext("globalThis", context);
}

async function instantiate(go: Go, module: BufferSource): Promise<WebAssembly.Instance> {
  return (await WebAssembly.instantiate(module, go.importObject)).instance;
}

const sections = wasm.split(readFileSync(input));
const globals = wasm.readGlobals(wasm.body(sections, wasm.section.global));
const exports = wasm.readExports(wasm.body(sections, wasm.section.export));

/** The engine with its globals to be seen. */
function open(): Buffer<ArrayBuffer> {
  const shown = globals.map((_, index) => ({ name: `global${index}`, kind: wasm.kind.global, index }));
  return wasm.join(readFileSync(input as string), wasm.put(sections, wasm.section.export, wasm.writeExports([...exports, ...shown])));
}

/** Starts the engine and lets it work until all that it makes only once is made, then takes its garbage away. */
async function warm(): Promise<{ instance: WebAssembly.Instance; answer: string | undefined }> {
  const world = realm();
  const go = new world.Go();
  go.env = { GODEBUG: "clobberfree=1" }; // writes the same everywhere in memory that is freed, so that it can be told
  const instance = await instantiate(go, open());
  void go.run(instance);
  const answer = world.xdslint("lint", request);
  (instance.exports.collect as () => void)();
  const values = go._values.slice(7).filter((v) => v !== null && v !== undefined);
  if (values.some((v, i) => v !== held(world)[i]) || values.length !== held(world).length) throw new Error("the engine holds other JavaScript values than src/engine/go.ts puts back");
  return { instance, answer };
}

/** The memory of an instance, with zeros where nothing is that Go still looks at. */
function settled(instance: WebAssembly.Instance): Uint8Array<ArrayBuffer> {
  const memory = new Uint8Array((instance.exports.mem as WebAssembly.Memory).buffer.slice(0) as ArrayBuffer);
  const words = new BigUint64Array(memory.buffer);
  for (let i = 0; i < words.length; i++) if (words[i] === 0xdeadbeefdeadbeefn) words[i] = 0n;
  return memory;
}

/** The engine with the state of an instance. Its run, which would start it, does nothing. */
function frozen(instance: WebAssembly.Instance): Buffer<ArrayBuffer> {
  const memory = settled(instance);
  const idle = exports.find((e) => e.name === "getsp");
  if (!idle) throw new Error("the engine has no function getsp");
  let out = wasm.put(sections, wasm.section.memory, wasm.writeMemory(memory.length / 65536));
  out = wasm.put(out, wasm.section.global, wasm.writeGlobals(globals, globals.map((_, i) => (instance.exports[`global${i}`] as WebAssembly.Global).value)));
  out = wasm.put(out, wasm.section.export, wasm.writeExports(exports.map((e) => (e.name === "run" ? { ...e, index: idle.index } : e))));
  out = wasm.put(out, wasm.section.data, wasm.writeData(memory));
  return wasm.join(readFileSync(input as string), out);
}

/** What the engine answers when it goes on from the state in a module. */
async function answerOf(module: Buffer<ArrayBuffer>): Promise<string | undefined> {
  const world = realm();
  const go = new world.Go();
  void resume(go, await instantiate(go, module), world);
  return world.xdslint("lint", request);
}

const { instance, answer } = await warm();
const made = frozen(instance);
if ((await answerOf(made)) !== answer) throw new Error("the engine answers differently after this");
writeFileSync(output, made);
process.exit(); // the engines would wait for calls forever
