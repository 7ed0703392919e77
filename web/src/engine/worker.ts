// The worker in which the engine runs. It compiles the engine unless it gets a compiled one, and then answers one request after the other.
import { compileEngine } from "./compile.ts";
import { call, start, type Exports } from "./instance.ts";
import type { Kind } from "./kinds.ts";
import { browser } from "./wasi.ts";

export type ToWorker = { kind: Kind; module: WebAssembly.Module | undefined } | { operation: string; request: object };
export type FromWorker = { module: WebAssembly.Module } | { ready: true } | { answer: string } | { crash: string };

const say = (message: FromWorker) => postMessage(message);

async function compile(kind: Kind): Promise<WebAssembly.Module> {
  const module = await compileEngine(kind);
  say({ module });
  return module;
}

async function run(module: WebAssembly.Module): Promise<Exports> {
  const engine = await start(module, browser);
  say({ ready: true });
  return engine;
}

/** Go writes the reason only to the console. */
function ask(engine: Exports, operation: string, request: object): FromWorker {
  try {
    return { answer: call(engine, operation, request) };
  } catch {
    return { crash: "it ran out of memory or has a bug" };
  }
}

let running: Promise<Exports> | undefined;

onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  try {
    if ("kind" in data) await (running = data.module ? run(data.module) : compile(data.kind).then(run));
    else if (running) say(ask(await running, data.operation, data.request));
  } catch (error) {
    say({ crash: error instanceof Error ? error.message : String(error) });
  }
};
