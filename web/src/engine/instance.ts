// Starts and calls an engine. wasm/browser documents its exports.
import type { Files } from "./shapes.ts";
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

/**
 * Asks an engine, which answers in JSON. The texts of the request follow its JSON, which has their places instead: to escape and read them as JSON takes
 * longer than to lint an edit of them.
 */
export function call({ memory, allocate, call }: Exports, operation: string, request: object): string {
  const encoder = new TextEncoder();
  const texts: Uint8Array[] = [];
  let size = 0;
  const placed = (files: Files): Record<string, [number, number]> => Object.fromEntries(Object.entries(files).map(([name, text]) => [name, place(text)]));
  const place = (text: string): [number, number] => {
    const bytes = encoder.encode(text);
    texts.push(bytes);
    return [size, (size += bytes.length)];
  };
  const { files, before } = request as { files?: Files; before?: Files };
  const json = JSON.stringify({ ...request, files: files && placed(files), before: before && placed(before) });
  const head = encoder.encode(`${operation} ${json}\n`);
  let at = allocate(head.length + size) >>> 0; // first, because it may replace memory.buffer
  for (const bytes of [head, ...texts]) {
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    at += bytes.length;
  }
  const answer = BigInt.asUintN(64, call());
  return new TextDecoder().decode(new Uint8Array(memory.buffer, Number(answer >> 32n), Number(answer & 0xffffffffn)));
}
