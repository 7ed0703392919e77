// Downloads and compiles an engine. Its worker does that, because the page is busy with its interface at that time.
import { addresses, type Kind } from "./kinds.ts";

/** Rejects with a reason for the user. */
export const compileEngine = async (kind: Kind): Promise<WebAssembly.Module> => compile(await download(addresses[kind]));

async function download(url: string): Promise<Response> {
  const response = await fetch(url).catch(() => {
    throw new Error("it could not be downloaded. Is the network available?");
  });
  if (!response.ok) throw new Error(`it could not be downloaded: the server answered ${response.status}.`);
  return response;
}

async function compile(response: Response): Promise<WebAssembly.Module> {
  try {
    // Compiling during the download needs a media type that not every host sends.
    if (response.headers.get("Content-Type") === "application/wasm") return await WebAssembly.compileStreaming(response);
    return await WebAssembly.compile(await response.arrayBuffer());
  } catch (error) {
    if (error instanceof WebAssembly.CompileError) throw new Error("the server sent something else, or this browser is too old.");
    throw new Error("the download was interrupted.");
  }
}
