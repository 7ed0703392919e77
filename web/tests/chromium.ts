// Chromium as the system has it.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, type Browser } from "playwright-core";

// Reports requests of service workers as events.
process.env.PW_EXPERIMENTAL_SERVICE_WORKER_NETWORK_EVENTS = "1";

/** The browser looks for updates, and asks a server what the fields of a form are for: neither finds another host. */
const quiet = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--autofill-server-url=http://127.0.0.1:9/"];

export function launch(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: find("chromium"), args: [...quiet, ...args] });
}

/** The first program of that name on PATH. */
function find(program: string): string {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not there
    }
  }
  throw new Error(`${program} is not on PATH`);
}
