// The cost of typing for the main thread.
import type { Browser, Page } from "playwright-core";

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  dur?: number; // microseconds
  tdur?: number; // of the processor, microseconds
  args?: { name?: string };
}

/** Types keys into the shown text, and returns the milliseconds of every task of the main thread meanwhile, and those of the processor. */
export async function tasksWhileTyping(browser: Browser, page: Page, keys: number): Promise<{ elapsed: number[]; processor: number[] }> {
  const editor = page.getByRole("textbox", { name: "Text of envoy.yaml" });
  await editor.click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("PageDown");
  await page.keyboard.press("End");
  await page.keyboard.type(" #", { delay: 100 });
  await browser.startTracing(page, { categories: ["disabled-by-default-devtools.timeline", "toplevel"] });
  await page.keyboard.type("x".repeat(keys), { delay: 100 }); // ten keys a second
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const renderers = traceEvents.filter((event) => event.name === "thread_name" && event.args?.name === "CrRendererMain");
  const [main] = renderers.map((thread) => traceEvents.filter((event) => event.name === "RunTask" && event.pid === thread.pid && event.tid === thread.tid)).toSorted((a, b) => b.length - a.length);
  if (!main || main.length < keys) throw new Error("the trace has no tasks of the page");
  return { elapsed: main.map((task) => (task.dur ?? 0) / 1000), processor: main.map((task) => (task.tdur ?? 0) / 1000) };
}
