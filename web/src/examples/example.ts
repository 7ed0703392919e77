// Finds an example by name: a whole configuration, or the example of a rule from the engine.
import { loadAbout } from "../engine/about.ts";
import { engine } from "../engine/engine.ts";
import type { Example as Sample } from "../engine/shapes.ts";
import type { Text } from "../project/project.ts";
import type { Project } from "../share/state.ts";
import { configurations } from "./configurations.ts";

export interface Example {
  name: string;
  title: string;
  summary: string;
  rule: string; // empty if the example is not that of a rule
  bad: Project;
  fixed: Project | null;
}

/** Rejects with a reason for the user. */
export async function exampleOf(name: string): Promise<Example> {
  const whole = configurations.find((c) => c.name === name);
  if (whole) return { name, title: whole.title, summary: whole.summary, rule: "", bad: project(whole.texts), fixed: whole.fixed ? project(whole.fixed) : null };
  const { rules } = await loadAbout();
  if (!rules.some(({ id }) => id === name)) throw new Error(`This playground has no example "${name}".`);
  const rule = await engine.ask("explain", { rule: name, files: {} });
  if (!rule.bad) throw new Error(`There is no example of ${name}: it is not about a configuration.`);
  return { name, title: rule.id, summary: rule.summary, rule: rule.id, bad: sampled(rule.bad), fixed: rule.good && sampled(rule.good) };
}

function sampled({ before, files, targets, transport, versions }: Sample): Project {
  const of = (side: Text["side"], all: typeof files): Text[] => Object.entries(all).map(([name, text]) => ({ side, name, text }));
  return { ...project([...of("before", before), ...of("after", files)]), target: targets[0] ?? "", transport, versions };
}

/** An example of a push opens the comparison. */
function project(texts: readonly Text[]): Project {
  const shown = texts.find((t) => t.side === "after") ?? texts[0];
  return {
    texts,
    active: { side: shown?.side ?? "after", name: shown?.name ?? "" },
    target: "",
    transport: "",
    versions: "",
    panel: texts.some((t) => t.side === "before") ? "compare" : "problems",
  };
}
