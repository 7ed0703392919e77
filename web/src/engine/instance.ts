// Starts and calls an engine. wasm/browser documents its exports.
import { wasi, type Host } from "./wasi.ts";

export interface Exports {
  memory: WebAssembly.Memory;
  _initialize?(): void; // missing in an engine that scripts/preinitialise.ts has started
  allocate(size: number): number;
  call(): bigint;
  collect(): void;
}

export async function start(module: WebAssembly.Module, host: Host): Promise<Exports> {
  const imports = wasi(module, host, () => exports.memory);
  const exports = (await WebAssembly.instantiate(module, imports)).exports as unknown as Exports;
  exports._initialize?.();
  return exports;
}

/** Asks an engine. Request and answer are JSON. */
export function call({ memory, allocate, call }: Exports, operation: string, request: string): string {
  const bytes = new TextEncoder().encode(`${operation} ${request}`);
  const address = allocate(bytes.length) >>> 0; // first, because it may replace memory.buffer
  new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
  const answer = BigInt.asUintN(64, call());
  return new TextDecoder().decode(new Uint8Array(memory.buffer, Number(answer >> 32n), Number(answer & 0xffffffffn)));
}
