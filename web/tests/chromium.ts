// Chromium as the system has it.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, type Browser } from "playwright-core";

// Reports requests of service workers as events.
process.env.PW_EXPERIMENTAL_SERVICE_WORKER_NETWORK_EVENTS = "1";

/** The browser looks for updates, and asks a server what the fields of a form are for: neither finds another host. */
const quiet = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--autofill-server-url=http://127.0.0.1:9/"];

/** The first is without the interface of the browser, and needs a quarter to a third less processor time. */
const programs = ["chromium-headless-shell", "chromium"];

export function launch(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: find(programs), args: [...quiet, ...args] });
}

/** The first of some programs that is on PATH. */
function find(programs: string[]): string {
  const folders = (process.env.PATH ?? "").split(delimiter);
  for (const path of programs.flatMap((program) => folders.map((folder) => join(folder, program)))) {
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not there
    }
  }
  throw new Error(`none of ${programs.join(", ")} is on PATH`);
}
