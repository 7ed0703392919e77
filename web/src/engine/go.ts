// What wasm_exec.js, which comes with Go, leaves behind, as far as it is used here.

export interface Go {
  argv: string[];
  env: Record<string, string>;
  importObject: WebAssembly.Imports;
  run(instance: WebAssembly.Instance): Promise<void>;
  // The table of the JavaScript values that the Go program holds, by their ids, and how often it holds each.
  _values: unknown[];
  _goRefCounts: number[];
  _ids: Map<unknown, number>;
  _makeFuncWrapper(id: number): Realm["xdslint"];
}

/** A global object in which a Go program runs. */
export interface Realm {
  Go: new () => Go;
  Object: unknown;
  Array: unknown;
  Uint8Array: unknown;
  process: unknown;
  path: unknown;
  fs: { constants: unknown };
  /** What the engine adds; it has no answer once the engine has ended. */
  xdslint(operation: string, request: string): string | undefined;
}

/** The values that the engine holds once it has started, beyond those that every Go program does; preinitialise.ts sees to it that there are no others. */
export const held = (realm: Realm) => [realm.Object, realm.Array, realm.process, realm.path, realm.fs, realm.fs.constants, realm.Uint8Array, realm.xdslint];

/** The id of the engine's function: the first one that it makes. */
const functionID = 1;

/**
 * Goes on with an engine whose memory is that of one that has started already (see preinitialise.ts). Go's own part, run, makes its tables anew and
 * then finds nothing to do; what the engine had put into them is put there again.
 */
export function resume(go: Go, instance: WebAssembly.Instance, realm: Realm): Promise<void> {
  const ended = go.run(instance);
  realm.xdslint = go._makeFuncWrapper(functionID);
  for (const value of held(realm)) {
    go._ids.set(value, go._values.length);
    go._values.push(value);
    go._goRefCounts.push(Infinity);
  }
  return ended;
}
