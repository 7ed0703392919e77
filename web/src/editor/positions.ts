// Converts positions: the engine counts lines and columns in code points, the editor UTF-16 units from the start.
import { Text } from "@codemirror/state";
import type { Location, Position as Place } from "../engine/shapes.ts";

type Position = Pick<Place, "line" | "column">;

export interface Range {
  from: number;
  to: number;
}

/**
 * The line end of a text. A text with different line ends is split only at line feeds, so that the editor returns every text unchanged.
 */
export const lineEnd = (text: string) => (text.includes("\r\n") && !/(^|[^\r])\n/.test(text) ? "\r\n" : "\n");

/** With the line end of another text, a line feed alone ends a line as well. */
export const parse = (text: string, end = lineEnd(text)) => Text.of(text.split(end === "\n" ? end : /\r?\n/));

export const format = (doc: Text, end: string) => doc.sliceString(0, doc.length, end);

const astral = /[\u{10000}-\u{10ffff}]/gu;

/** Finds offsets of positions, clamped to the text. Findings are sorted by line, so the last line is cached. */
export function finder(doc: Text): (position: Position) => number {
  let line = doc.line(1);
  let wide: number[] | undefined; // columns, from 0, of the line's characters of two units
  return ({ line: n, column }) => {
    const number = Math.min(Math.max(n, 1), doc.lines);
    if (number !== line.number || wide === undefined) {
      line = doc.line(number);
      wide = [...line.text.matchAll(astral)].map((m, before) => m.index - before);
    }
    const characters = Math.max(column, 1) - 1;
    return line.from + Math.min(characters + countBelow(wide, characters), line.length);
  };
}

/** Counts the numbers below a limit in a sorted list. */
function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? limit) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The range to mark for a location: the part of its span in the first line, as on the command line. An empty span marks its line, and a location
 * without a span the first line.
 */
export function rangeOf(doc: Text, find: (position: Position) => number, { start, end }: Location): Range {
  const from = start ? find(start) : 0;
  const line = doc.lineAt(from);
  const to = Math.min(start && end ? find(end) : from, line.to);
  if (from < to && doc.sliceString(from, to).trim() !== "") return { from, to };
  const text = line.text.trim();
  const indent = line.text.length - line.text.trimStart().length;
  return text === "" ? { from: line.from, to: line.to } : { from: line.from + indent, to: line.from + indent + text.length };
}

/** The change from one text to another: everything between their common start and end. */
export function changeTo(old: Text, next: Text): { from: number; to: number; insert: Text } {
  const [a, b] = [old.toString(), next.toString()];
  const shorter = Math.min(a.length, b.length);
  let from = 0;
  while (from < shorter && a[from] === b[from]) from++;
  let same = 0;
  while (same < shorter - from && a[a.length - 1 - same] === b[b.length - 1 - same]) same++;
  return { from, to: a.length - same, insert: next.slice(from, b.length - same) };
}
