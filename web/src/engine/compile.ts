// The engine, downloaded and compiled once: a worker that died is replaced without a network.
import url from "../../build/engine.wasm?url";

let compiled: Promise<WebAssembly.Module> | undefined;

/** It rejects with a reason in words for the user; asked again, it tries again. */
export function compileEngine(): Promise<WebAssembly.Module> {
  compiled ??= download().then(compile);
  compiled.catch(() => (compiled = undefined));
  return compiled;
}

async function download(): Promise<Response> {
  const response = await fetch(url).catch(() => {
    throw new Error("it could not be downloaded. Is there a network?");
  });
  if (!response.ok) throw new Error(`it could not be downloaded: the server says ${response.status}.`);
  return response;
}

async function compile(response: Response): Promise<WebAssembly.Module> {
  try {
    // Compiling while it downloads needs a type that not every host sends.
    if (response.headers.get("Content-Type") === "application/wasm") return await WebAssembly.compileStreaming(response);
    return await WebAssembly.compile(await response.arrayBuffer());
  } catch (error) {
    if (error instanceof WebAssembly.CompileError) throw new Error("what the server sent in its place is something else, or this browser is too old for it.");
    throw new Error("its download broke off.");
  }
}
