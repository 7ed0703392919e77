// The state of the page as one value, for links and examples.
import { batch } from "@preact/signals";
import type { Asked } from "../engine/shapes.ts";
import { active, asked, nothingAsked, open, target, texts, transport, versions, type Place, type Text } from "../project/project.ts";
import { panel, panels, type Panel } from "../ui/panels.ts";

export interface Project {
  texts: readonly Text[];
  active: Place;
  target: string;
  transport: string;
  versions: string;
  panel: Panel;
  asked?: Asked; // nothing if it is absent, as in older links
}

export const capture = (): Project => ({
  texts: texts.value.map(({ side, name, text }) => ({ side, name, text })),
  active: active.value,
  target: target.value,
  transport: transport.value,
  versions: versions.value,
  panel: panel.value,
  ...(asked.value !== nothingAsked && { asked: asked.value }),
});

export function restore(project: Project): void {
  batch(() => {
    open(project.texts, project.active);
    target.value = project.target;
    transport.value = project.transport;
    versions.value = project.versions;
    panel.value = project.panel;
    asked.value = project.asked ?? nothingAsked;
  });
}

/** Validates JSON as a project, or throws. Links are untrusted. */
export function checked(value: unknown): Project {
  const { texts, active, target, transport, versions, panel, asked } = record(value);
  if (!Array.isArray(texts)) throw new TypeError("texts");
  const all = texts.map((text: unknown) => ({ ...place(text), text: string(record(text).text) }));
  const names = new Set(all.map(({ side, name }) => `${side} ${name}`));
  if (names.size < all.length) throw new TypeError("two texts of one name");
  const project = { texts: all, active: place(active), target: string(target), transport: string(transport), versions: string(versions), panel: one(panels, panel) };
  return asked === undefined ? project : { ...project, asked: question(asked) };
}

function question(value: unknown): Asked {
  const { text, listener, sni, alpn, certificate, source } = record(value);
  return { text: string(text), listener: string(listener), sni: string(sni), alpn: string(alpn), certificate: string(certificate), source: string(source) };
}

function place(value: unknown): Place {
  const { side, name } = record(value);
  return { side: one(["before", "after"] as const, side), name: string(name).toWellFormed() }; // the engine replaces lone surrogates as well
}

function record(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new TypeError("no object");
  return value as Record<string, unknown>;
}

function string(value: unknown): string {
  if (typeof value !== "string") throw new TypeError("no string");
  return value;
}

function one<T>(all: readonly T[], value: unknown): T {
  const found = all.find((each) => each === value);
  if (found === undefined) throw new TypeError("none of the choices");
  return found;
}
