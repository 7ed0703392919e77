// Prepares the link to copy, with and without the secrets.
import { engine } from "../engine/engine.ts";
import type { Secret } from "../engine/shapes.ts";
import type { Side } from "../project/project.ts";
import { pack } from "./link.ts";
import { capture, type Project } from "./state.ts";

export interface Prepared {
  link: string;
  clean: string; // the link without the secrets; the same where there are none
  secrets: (Secret & { side: Side })[];
  unchecked: string; // the reason why secrets could not be looked for; empty if they were
}

/** Some chat and mail programs cut longer links, which then do not open. */
export const longLink = 32_000;
/** Browsers reject longer URLs. */
export const tooLongLink = 2_000_000;

export async function prepare(): Promise<Prepared> {
  const project = capture();
  const link = await linked(project);
  try {
    const before = await redacted(project, "before");
    const after = await redacted(project, "after");
    const bar = await ofRequest(project);
    const secrets = [...before.secrets, ...after.secrets, ...bar.secrets];
    const texts = project.texts.map((t) => ({ ...t, text: (t.side === "before" ? before : after).clean(t.name) }));
    return { link, clean: secrets.length > 0 ? await linked({ ...project, ...bar.clean, texts }) : link, secrets, unchecked: "" };
  } catch (error) {
    return { link, clean: link, secrets: [], unchecked: error instanceof Error ? error.message : String(error) };
  }
}

async function redacted({ texts }: Pick<Project, "texts">, side: Side) {
  const files = Object.fromEntries(texts.filter((t) => t.side === side).map((t) => [t.name, t.text]));
  const answer = await engine.ask("redact", { files });
  const clean = (name: string): string => {
    const text = answer.files[name];
    if (typeof text !== "string") throw new Error(`the engine did not check ${name}`); // never fall back to the original text
    return text;
  };
  return { clean, secrets: answer.secrets.map((s) => ({ ...s, side })) };
}

/** Looks for secrets in the request bar. */
async function ofRequest({ asked }: Project): Promise<{ clean: Pick<Project, "asked">; secrets: Prepared["secrets"] }> {
  if (!asked) return { clean: {}, secrets: [] };
  const name = "the request";
  const { clean, secrets } = await redacted({ texts: [{ side: "after", name, text: asked.text }] }, "after");
  return { clean: { asked: { ...asked, text: clean(name) } }, secrets };
}

async function linked(project: Project): Promise<string> {
  const { origin, pathname, search } = location;
  return origin + pathname + search + (await pack(project));
}
