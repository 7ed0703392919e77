import axe from "axe-core";
import type { Page } from "playwright-core";

/** What axe finds serious in a part of the page as it is now. */
export async function barriers(page: Page, part: string): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async (part) => {
    const { violations } = await (globalThis as unknown as { axe: { run: typeof axe.run } }).axe.run(part);
    return violations.filter((v) => v.impact === "serious" || v.impact === "critical").flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html}`));
  }, part);
}
