// The time from an empty cache to the first findings, in parts.
import type { Browser } from "playwright-core";

/** End times in milliseconds since the start of the navigation. */
export interface Opening {
  compiled: number; // the engine, while it was downloaded
  started: number; // Go, in the worker
  answered: number;
  shown: number;
}

declare global {
  var moments: Partial<Opening>;
}

/** Opens the page repeatedly, each time as a new visitor. */
export async function openings(browser: Browser, url: string, runs: number): Promise<Opening[]> {
  const all: Opening[] = [];
  for (let i = 0; i < runs; i++) {
    const context = await browser.newContext();
    await context.addInitScript(noteMoments);
    const page = await context.newPage();
    await page.goto(url);
    await page.waitForFunction(() => performance.getEntriesByName("xdslint:first-findings").length > 0);
    all.push(
      await page.evaluate(() => {
        const [shown] = performance.getEntriesByName("xdslint:first-findings");
        const { compiled = 0, started = 0, answered = 0 } = globalThis.moments;
        return { compiled, started, answered, shown: shown?.startTime ?? 0 };
      }),
    );
    await context.close();
  }
  return all;
}

/** Runs in the page before all else. */
function noteMoments(): void {
  const moments: Partial<Opening> = {};
  globalThis.moments = moments;
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      this.addEventListener("message", ({ data }) => {
        if ("module" in data) moments.compiled ??= performance.now();
        if ("ready" in data) moments.started ??= performance.now();
        if ("answer" in data) moments.answered ??= performance.now();
      });
    }
  };
}
