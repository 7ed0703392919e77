/** The quantile of the values, with share between 0 and 1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]) => quantile(values, 0.5);
export const worst = (values: readonly number[]) => Math.max(...values);

export const ms = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
export const mb = (bytes: number) => `${(bytes / 1e6).toFixed(bytes < 1e6 ? 2 : 1)} MB`;

export const row = (...cells: string[]) => `| ${cells.join(" | ")} |`;
export const table = (head: string[], rows: string[][]) => [row(...head), `|${"---|".repeat(head.length)}`, ...rows.map((cells) => row(...cells))].join("\n");
