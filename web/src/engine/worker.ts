// The worker in which the engine runs: it compiles the engine if it is not given it, and then answers one request after the other.
import "../../build/wasm_exec.js";
import { compileEngine } from "./compile.ts";
import { resume, type Realm } from "./go.ts";
import type { Kind } from "./kinds.ts";

const realm = globalThis as unknown as Realm;

export type ToWorker = { kind: Kind; module: WebAssembly.Module | undefined } | { operation: string; request: unknown };
export type FromWorker = { module: WebAssembly.Module } | { ready: true } | { answer: string } | { crash: string };

/** What is known of an engine that has ended: Go says the rest to the console only. */
const ended = "it ran out of memory, or has a bug";

const say = (message: FromWorker) => postMessage(message);

async function compile(kind: Kind): Promise<WebAssembly.Module> {
  const module = await compileEngine(kind);
  say({ module });
  return module;
}

async function run(module: WebAssembly.Module): Promise<void> {
  const go = new realm.Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  void resume(go, instance, realm).then(() => say({ crash: ended }));
  say({ ready: true });
}

let running: Promise<void> | undefined;

onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  try {
    if ("kind" in data) {
      await (running = data.module ? run(data.module) : compile(data.kind).then(run));
      return;
    }
    await running;
    const answer = realm.xdslint(data.operation, JSON.stringify(data.request));
    say(answer === undefined ? { crash: ended } : { answer });
  } catch (error) {
    say({ crash: error instanceof Error ? error.message : String(error) });
  }
};
