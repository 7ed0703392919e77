// The short text of a rule, without Markdown.
import { engine } from "../engine/engine.ts";
import type { Files, Operations } from "../engine/shapes.ts";
import { settingsIn } from "../custom/rules.ts";

export interface Explained {
  summary: string;
  why: string; // the first paragraph
}

const known = new Map<string, Promise<Explained | null>>();

/** Explains a rule that found something in texts; null if the engine cannot. */
export function explained(rule: string, texts: Files): Promise<Explained | null> {
  const question = { rule, files: settingsIn(rule, texts) };
  const key = JSON.stringify(question);
  const asked = known.get(key) ?? ask(question);
  known.set(key, asked);
  void asked.then((answer) => answer ?? known.delete(key)); // so that it is asked again
  return asked;
}

async function ask(question: Operations["explain"]["request"]): Promise<Explained | null> {
  try {
    const { summary, page } = await engine.ask("explain", question);
    return { summary: plain(summary), why: plain(firstParagraph(page)) };
  } catch {
    return null;
  }
}

function firstParagraph(page: string): string {
  const [, why = ""] = page.split(/^## Why$/m);
  return why.trim().split(/\n\s*\n/)[0] ?? "";
}

/** Removes the Markdown that rules use: code, emphasis and links. */
const plain = (markdown: string) =>
  markdown
    .replace(/\s+/g, " ")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\*\*([^*]+)\*\*/g, "$1")
    .replace(/`([^`]*)`/g, "$1");
