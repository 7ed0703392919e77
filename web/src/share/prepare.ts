// A link, made ready to be copied: with all that there is, and without the secrets.
import { engine } from "../engine/engine.ts";
import type { Secret } from "../engine/shapes.ts";
import { filesOf, type Side, type Text } from "../project/project.ts";
import { pack } from "./link.ts";
import { capture } from "./state.ts";

export interface Prepared {
  link: string;
  clean: string; // the link without the secrets; the same where there are none
  secrets: (Secret & { side: Side })[];
  unchecked: string; // why nobody knows whether secrets are inside; empty: it is known
}

/** From here on some chat and mail programs cut an address, and a cut one does not open. */
export const longLink = 32_000;
/** From here on browsers themselves refuse an address. */
export const tooLongLink = 2_000_000;

export async function prepare(): Promise<Prepared> {
  const project = capture();
  const link = await linked(project);
  try {
    const before = await redacted("before");
    const after = await redacted("after");
    const secrets = [...before.secrets, ...after.secrets];
    const texts = project.texts.map((t) => ({ ...t, text: (t.side === "before" ? before : after).files[t.name] ?? t.text }));
    return { link, clean: secrets.length > 0 ? await linked({ ...project, texts }) : link, secrets, unchecked: "" };
  } catch (error) {
    return { link, clean: link, secrets: [], unchecked: error instanceof Error ? error.message : String(error) };
  }
}

async function redacted(side: Text["side"]) {
  const answer = await engine.ask("redact", { files: filesOf(side) });
  return { files: answer.files, secrets: answer.secrets.map((s) => ({ ...s, side })) };
}

async function linked(project: Parameters<typeof pack>[0]): Promise<string> {
  const { origin, pathname, search } = location;
  return origin + pathname + search + (await pack(project));
}
