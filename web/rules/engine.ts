// The larger engine in Node. It has all rules, and the pages are built from its answers.
import { readFile } from "node:fs/promises";
import { call, start } from "../src/engine/instance.ts";
import type { Operation, Operations } from "../src/engine/shapes.ts";
import { browser } from "../src/engine/wasi.ts";

export type Ask = <O extends Operation>(operation: O, request: Operations[O]["request"]) => Operations[O]["answer"];

export async function startEngine(): Promise<Ask> {
  const engine = await start(await WebAssembly.compile(await readFile(new URL("../build/larger.wasm", import.meta.url))), browser);
  return (operation, request) => {
    const answer = JSON.parse(call(engine, operation, request));
    if (typeof answer.error === "string") throw new Error(`${operation}: ${answer.error}`);
    return answer;
  };
}
