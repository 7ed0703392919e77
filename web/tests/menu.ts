// The menu of the texts, and the browser's dialog for opening files.
import type { FileChooser, Page } from "playwright-core";
import { errors } from "playwright-core";

export async function choose(page: Page, item: string): Promise<void> {
  await page.getByRole("button", { name: "File" }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

/**
 * Opens files, or a folder, in the dialog that press leads to. Chromium shows that within five seconds after a button of the mouse went down, and not
 * later. A busy machine may miss that, so press is tried again.
 */
export async function openFiles(page: Page, files: Parameters<FileChooser["setFiles"]>[0], press = () => choose(page, "Open files…")): Promise<void> {
  for (let more = 4; ; more--) {
    try {
      const [dialog] = await Promise.all([page.waitForEvent("filechooser", { timeout: 60_000 }), press()]);
      return await dialog.setFiles(files);
    } catch (error) {
      if (more === 0 || !(error instanceof errors.TimeoutError)) throw error;
    }
  }
}
