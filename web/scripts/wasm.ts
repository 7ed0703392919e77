// Reads and writes the sections of a WebAssembly module that preinitialise.ts changes.

export const section = { memory: 5, global: 6, export: 7, data: 11 } as const;
export const kind = { memory: 2, global: 3 } as const;

export interface Section {
  id: number;
  body: Uint8Array;
}

export interface Global {
  type: number;
  mutable: number;
}

export interface Export {
  name: string;
  kind: number;
  index: number;
}

const i32 = 0x7f;
const [i32Const, i64Const, end] = [0x41, 0x42, 0x0b];
const headerLength = 8;

class Reader {
  at = 0;
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
  byte(): number {
    const b = this.bytes[this.at++];
    if (b === undefined) throw new Error("the module is cut off");
    return b;
  }
  /** An unsigned number in LEB128. */
  number(): number {
    for (let value = 0, scale = 1; ; scale *= 128) {
      const b = this.byte();
      value += (b & 127) * scale;
      if (b < 128) return value;
    }
  }
  take(length: number): Uint8Array {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
  text(): string {
    return Buffer.from(this.take(this.number())).toString();
  }
}

/** An unsigned number in LEB128. */
function unsigned(n: number): Buffer {
  const out = [];
  for (; n >= 128; n = Math.floor(n / 128)) out.push((n % 128) | 128);
  return Buffer.from([...out, n]);
}

/** A signed number in LEB128. */
function signed(n: bigint): Buffer {
  const out = [];
  for (;;) {
    const low = Number(n & 127n);
    n >>= 7n;
    if ((n === 0n && low < 64) || (n === -1n && low >= 64)) return Buffer.from([...out, low]);
    out.push(low | 128);
  }
}

export function split(module: Uint8Array): Section[] {
  const r = new Reader(module);
  r.take(headerLength);
  const sections = [];
  while (r.at < module.length) sections.push({ id: r.byte(), body: r.take(r.number()) });
  return sections;
}

export function join(module: Uint8Array, sections: Section[]): Buffer<ArrayBuffer> {
  return Buffer.concat([module.subarray(0, headerLength), ...sections.flatMap(({ id, body }) => [Buffer.from([id]), unsigned(body.length), body])]);
}

/** The body of the section with an id. */
export function body(sections: Section[], id: number): Uint8Array {
  const found = sections.find((s) => s.id === id);
  if (!found) throw new Error(`the module has no section ${id}`);
  return found.body;
}

export const put = (sections: Section[], id: number, content: Uint8Array) => sections.map((s) => (s.id === id ? { id, body: content } : s));

export function readGlobals(bytes: Uint8Array): Global[] {
  const r = new Reader(bytes);
  return Array.from({ length: r.number() }, () => {
    const global = { type: r.byte(), mutable: r.byte() };
    while (r.byte() !== end); // constants; Go's are all 0, so no byte of theirs looks like the end
    return global;
  });
}

export function writeGlobals(globals: Global[], values: (number | bigint)[]): Buffer {
  const each = globals.flatMap(({ type, mutable }, i) => [Buffer.from([type, mutable, type === i32 ? i32Const : i64Const]), signed(BigInt(values[i] ?? 0)), Buffer.from([end])]);
  return Buffer.concat([unsigned(globals.length), ...each]);
}

export function readExports(bytes: Uint8Array): Export[] {
  const r = new Reader(bytes);
  return Array.from({ length: r.number() }, () => ({ name: r.text(), kind: r.byte(), index: r.number() }));
}

export function writeExports(exports: Export[]): Buffer {
  return Buffer.concat([unsigned(exports.length), ...exports.flatMap((e) => [unsigned(e.name.length), Buffer.from(e.name), Buffer.from([e.kind]), unsigned(e.index)])]);
}

/** A memory with an initial number of pages and no limit. */
export const writeMemory = (pages: number) => Buffer.concat([Buffer.from([1, 0]), unsigned(pages)]);

/** The content of a memory. Longer runs of zeros are left out, since a memory starts with zeros. */
export function writeData(memory: Uint8Array<ArrayBuffer>): Buffer {
  const words = new BigUint64Array(memory.buffer);
  const gap = 32; // words; a segment has a header
  const segments: [from: number, to: number][] = [];
  for (let i = 0, to = -Infinity; i < words.length; i++) {
    if (words[i] === 0n) continue;
    const last = segments.at(-1);
    if (last && i - to <= gap) last[1] = i + 1;
    else segments.push([i, i + 1]);
    to = i;
  }
  const each = segments.flatMap(([from, to]) => [Buffer.from([0, i32Const]), signed(BigInt(from * 8)), Buffer.from([end]), unsigned((to - from) * 8), memory.subarray(from * 8, to * 8)]);
  return Buffer.concat([unsigned(segments.length), ...each]);
}
