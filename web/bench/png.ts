// Makes a screenshot smaller. Chromium's row filters suit photographs, and text compresses better without them.
import { crc32, deflateSync, inflateSync } from "node:zlib";

const signature = 8;

/** Re-encodes an 8-bit RGB picture without row filters. */
export function shrink(png: Buffer): Buffer {
  const chunks = [...split(png)];
  const header = chunks.find(({ type }) => type === "IHDR")?.data;
  if (header?.readUInt16BE(8) !== 0x0802) throw new Error("not 8-bit RGB");
  const rows = unfilter(inflateSync(Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map(({ data }) => data))), header.readUInt32BE(0) * 3);
  return Buffer.concat([png.subarray(0, signature), chunk("IHDR", header), chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

function* split(png: Buffer): Generator<{ type: string; data: Buffer }> {
  for (let at = signature; at < png.length; ) {
    const length = png.readUInt32BE(at);
    yield { type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) };
    at += length + 12;
  }
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** Undoes the filter of each row, which its first byte names: none, left, above, mean or Paeth. */
function unfilter(rows: Buffer, width: number): Buffer {
  for (let start = 0; start < rows.length; start += width + 1) {
    const filter = rows[start] ?? 0;
    rows[start] = 0;
    for (let i = 1; i <= width; i++) {
      const at = start + i;
      const left = i > 3 ? (rows[at - 3] ?? 0) : 0;
      const above = start > 0 ? (rows[at - width - 1] ?? 0) : 0;
      const corner = i > 3 && start > 0 ? (rows[at - width - 4] ?? 0) : 0;
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0;
      rows[at] = ((rows[at] ?? 0) + guess) & 0xff;
    }
  }
  return rows;
}

function paeth(left: number, above: number, corner: number): number {
  const away = (value: number) => Math.abs(left + above - corner - value);
  if (away(left) <= away(above) && away(left) <= away(corner)) return left;
  return away(above) <= away(corner) ? above : corner;
}
