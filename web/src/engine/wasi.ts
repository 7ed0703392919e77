// The part of WASI that a Go program without files needs: a clock, random numbers, a console and an exit.

/** What the browser and scripts/preinitialise.ts provide differently. */
export interface Host {
  nanoseconds(): bigint;
  random(bytes: Uint8Array<ArrayBuffer>): void;
  print(line: string): void;
}

export const browser: Host = {
  nanoseconds: () => BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6)),
  random: (bytes) => void crypto.getRandomValues(bytes),
  print: (line) => console.log(line),
};

const success = 0;
const badFileDescriptor = 8; // by which Go knows that there are no folders

/** The functions that a module imports. They use the memory of its instance. */
export function wasi(module: WebAssembly.Module, host: Host, memory: () => WebAssembly.Memory): WebAssembly.Imports {
  const view = () => new DataView(memory().buffer);
  const bytes = (at: number, length: number) => new Uint8Array(memory().buffer as ArrayBuffer, at, length);
  let line = "";

  const functions = {
    args_sizes_get: () => success, // the memory already is zero
    args_get: () => success,
    environ_sizes_get: () => success,
    environ_get: () => success,
    clock_time_get(_clock: number, _precision: bigint, time: number) {
      view().setBigUint64(time, host.nanoseconds(), true);
      return success;
    },
    random_get(at: number, length: number) {
      host.random(bytes(at, length));
      return success;
    },
    fd_write(_file: number, buffers: number, count: number, written: number) {
      let sum = 0;
      for (let i = 0; i < count; i++) {
        const [at, length] = [view().getUint32(buffers + 8 * i, true), view().getUint32(buffers + 8 * i + 4, true)];
        line += new TextDecoder().decode(bytes(at, length));
        sum += length;
      }
      const lines = line.split("\n");
      line = lines.pop() ?? "";
      lines.forEach(host.print);
      view().setUint32(written, sum, true);
      return success;
    },
    poll_oneoff: () => success, // it does not wait
    sched_yield: () => success,
    proc_exit(status: number) {
      throw new Error(`the engine has exited with status ${status}`);
    },
  };
  const others = WebAssembly.Module.imports(module).map(({ name }) => [name, () => badFileDescriptor]);
  return { wasi_snapshot_preview1: { ...Object.fromEntries(others), ...functions } };
}
