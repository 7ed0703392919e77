// A project in the fragment of a URL, which browsers never send: a version, then JSON, deflated, in base64url.
import { checked, type Project } from "./state.ts";

const prefix = "#p=1.";
const inflatedLimit = 20 << 20; // a small link could hold a gigabyte of spaces
const textsLimit = 1000; // or a million texts

/** The reason why a link cannot be opened, for the user. */
export class BadLink extends Error {}

export async function pack(project: Project): Promise<string> {
  const deflated = through(new TextEncoder().encode(JSON.stringify(project)), new CompressionStream("deflate-raw"));
  return prefix + base64url(await joined(deflated, Infinity));
}

export async function unpack(hash: string): Promise<Project> {
  if (!hash.startsWith(prefix)) throw new BadLink("This link was made by a newer playground, or it is damaged.");
  const inflated = through(bytesOf(hash.slice(prefix.length)), new DecompressionStream("deflate-raw"));
  try {
    const project = checked(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(await joined(inflated, inflatedLimit))));
    if (project.texts.length > textsLimit) throw new BadLink(`This link contains more than ${textsLimit} texts, so it was not opened.`);
    return project;
  } catch (error) {
    if (error instanceof BadLink) throw error;
    throw new BadLink("This link is damaged: chat and mail programs often cut long ones. Ask for it again, or for the files.");
  }
}

const through = (bytes: Uint8Array<ArrayBuffer>, transform: GenericTransformStream): ReadableStream<Uint8Array> => new Blob([bytes]).stream().pipeThrough(transform);

/** Reads a stream to its end. Nothing is unpacked beyond the limit. */
async function joined(stream: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.length;
    if (size > limit) {
      void reader.cancel();
      throw new BadLink(`This link contains more than ${limit >> 20} MB of text, so it was not opened.`);
    }
    chunks.push(next.value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

function base64url(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000)); // arguments are limited in number
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  } catch {
    throw new BadLink("This link is damaged: it contains invalid characters. Ask for it again, or for the files.");
  }
}
