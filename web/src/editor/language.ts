// The language of a text.
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import type { Extension, Text } from "@codemirror/state";

const languages = { yaml: yaml(), json: json(), other: [] } satisfies Record<string, Extension>;

export type Language = keyof typeof languages;

export const extensionOf = (language: Language): Extension => languages[language];

/** Decides by the name, and by the start of the text in case JSON was pasted into a .yaml file. */
export function languageOf(name: string, doc: Text): Language {
  if (/\.json$/i.test(name)) return "json";
  if (/\.(pb_text|textproto|txtpb)$/i.test(name)) return "other";
  return /^\s*(\{\s*("|$)|\[\s*[{["])/.test(doc.sliceString(0, 200)) ? "json" : "yaml";
}
