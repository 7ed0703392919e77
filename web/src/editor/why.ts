// The text of a rule, in short and without its Markdown.
import { engine } from "../engine/engine.ts";

export interface Explained {
  summary: string;
  why: string; // the first paragraph
}

const known = new Map<string, Promise<Explained | null>>();

/** Null where the engine does not say. */
export function explained(rule: string): Promise<Explained | null> {
  const asked = known.get(rule) ?? ask(rule);
  known.set(rule, asked);
  return asked;
}

async function ask(rule: string): Promise<Explained | null> {
  try {
    const { summary, page } = await engine.ask("explain", { rule });
    return { summary: plain(summary), why: plain(firstParagraph(page)) };
  } catch {
    known.delete(rule); // it may say when it is asked again
    return null;
  }
}

function firstParagraph(page: string): string {
  const [, why = ""] = page.split(/^## Why$/m);
  return why.trim().split(/\n\s*\n/)[0] ?? "";
}

/** Leaves out the marks of Markdown that rules use: code, emphasis and links. */
const plain = (markdown: string) =>
  markdown
    .replace(/\s+/g, " ")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\*\*([^*]+)\*\*/g, "$1")
    .replace(/`([^`]*)`/g, "$1");
