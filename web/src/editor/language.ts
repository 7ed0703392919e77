// Which language a text is in.
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import type { Extension, Text } from "@codemirror/state";

const languages = { yaml: yaml(), json: json(), other: [] } satisfies Record<string, Extension>;

export type Language = keyof typeof languages;

export const extensionOf = (language: Language): Extension => languages[language];

/** Goes by the name, and by how the text begins where people paste JSON into a file that is named otherwise. */
export function languageOf(name: string, doc: Text): Language {
  if (/\.json$/i.test(name)) return "json";
  if (/\.(pb_text|textproto|txtpb)$/i.test(name)) return "other";
  return /^\s*(\{\s*("|$)|\[\s*[{["])/.test(doc.sliceString(0, 200)) ? "json" : "yaml";
}
