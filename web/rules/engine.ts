// The larger engine, which has all rules, in Node: the pages are made from what it says of the rules, so there is no second place where rules are described.
import { readFile } from "node:fs/promises";
import type { Operation, Operations } from "../src/engine/shapes.ts";
import type { Realm } from "../src/engine/go.ts";
import "../build/wasm_exec.js";

const realm = globalThis as unknown as Realm;

export type Ask = <O extends Operation>(operation: O, request: Operations[O]["request"]) => Operations[O]["answer"];

export async function startEngine(): Promise<Ask> {
  const go = new realm.Go();
  const { instance } = await WebAssembly.instantiate(await readFile(new URL("../build/cold/constraints.wasm", import.meta.url)), go.importObject);
  void go.run(instance);
  return (operation, request) => {
    const answer = JSON.parse(realm.xdslint(operation, JSON.stringify(request)) ?? "{}");
    if (typeof answer.error === "string") throw new Error(`${operation}: ${answer.error}`);
    return answer;
  };
}
