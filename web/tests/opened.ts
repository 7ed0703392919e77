// Opens the page with the texts of a test, through a link.
import { deflateRawSync } from "node:zlib";

/** A path that opens texts by their names; the first is shown. */
export function opened(files: Record<string, string>): string {
  const texts = Object.entries(files).map(([name, text]) => ({ side: "after", name, text }));
  const project = { texts, active: { side: "after", name: texts[0]?.name ?? "" }, target: "", transport: "", versions: "", panel: "problems" };
  return `/#p=1.${deflateRawSync(JSON.stringify(project)).toString("base64url")}`;
}
