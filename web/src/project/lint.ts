// The engine's answers about the project, kept up to date.
import { computed, effect, signal, untracked } from "@preact/signals";
import { CrashError, engine } from "../engine/engine.ts";
import type { Kind } from "../engine/kinds.ts";
import type { Files, LintAnswer, Operation, Operations } from "../engine/shapes.ts";
import { alike, filesOf, target, type Side } from "./project.ts";

/** The findings and the texts that they are about, which may have changed since. */
export type Findings = LintAnswer & { texts: Files };

/** The engine's answer for each side; null while there is none. */
export const findings = signal<Record<Side, Findings | null>>({ before: null, after: null });

/** The texts of a side that cannot be parsed, for example while the user is typing. */
export const unreadableIn = (side: Side): string[] => [...new Set(findings.value[side]?.diagnostics.filter((d) => d.resource.kind === "file").map((d) => d.location.file))];

/** A question without an answer: the engine rejected it or crashed. */
export interface Trouble {
  operation: Operation;
  message: string;
  crashed: boolean;
}

const open = signal<ReadonlyMap<object, Trouble>>(new Map());

/** The questions that have no answer now. */
export const troubles = computed(() => [...open.value.values()]);

/** The reason why a question of this kind has no answer; empty if it has one. */
export const troubleWith = (operation: Operation) => troubles.value.find((trouble) => trouble.operation === operation)?.message ?? "";

function settle(question: object, trouble: Trouble | null): void {
  if (!trouble && !open.peek().has(question)) return;
  const rest = new Map(open.peek());
  rest.delete(question);
  if (trouble) rest.set(question, trouble);
  open.value = rest;
}

/** Texts that crashed the engine. They are not sent to it again. */
const deadly = new WeakMap<Files, string>();

type Request<O extends Operation> = Operations[O]["request"];
type Answer<O extends Operation> = Operations[O]["answer"];

async function answerTo<O extends Operation>(operation: O, request: Request<O>): Promise<Answer<O>> {
  const files = "files" in request ? request.files : undefined;
  const before = "before" in request ? request.before : undefined;
  const why = (files && deadly.get(files)) ?? (before && deadly.get(before));
  if (why !== undefined) throw new CrashError(why);
  try {
    return await engine.ask(operation, request);
  } catch (error) {
    if (error instanceof CrashError && operation === "lint" && files) deadly.set(files, error.message);
    throw error;
  }
}

/**
 * Asks again whenever the question or the engine changes, and passes the newest answer and its question to take; null without an answer.
 * While the engine is busy, only the latest question waits. A question that failed is not repeated. The returned
 * function ends it.
 */
export function keepAsking<O extends Operation>(
  operation: O,
  question: () => Request<O> | null,
  take: (answer: Answer<O> | null, request: Request<O> | null) => void,
): () => void {
  const id = {};
  const current = computed(question);
  let asked: Request<O> | null | undefined;
  let by: Kind | undefined;
  let busy = false;
  let ended = false;

  const askOnce = async () => {
    const request = (asked = current.peek());
    by = engine.kind.peek();
    let answer: Answer<O> | null = null;
    let trouble: Trouble | null = null;
    try {
      if (request) answer = await answerTo(operation, request);
    } catch (error) {
      trouble = { operation, message: error instanceof Error ? error.message : String(error), crashed: error instanceof CrashError };
    }
    if (ended) return;
    settle(id, trouble);
    take(answer, request);
  };
  const run = async () => {
    if (busy) return;
    busy = true;
    while (!ended && !(alike(asked, current.peek()) && by === engine.kind.peek())) await askOnce();
    busy = false;
  };
  const dispose = effect(() => {
    void current.value;
    void engine.kind.value;
    void untracked(run);
  });
  return () => {
    ended = true;
    dispose();
    settle(id, null);
  };
}

const chosen = computed(() => (target.value === "" ? [] : [target.value]));

/** The targets; none for those of the configuration or the engine's default. */
export const targets = () => chosen.value;

export function startLinting(): void {
  for (const side of ["after", "before"] as const) {
    keepAsking(
      "lint",
      () => (Object.keys(filesOf(side)).length > 0 ? { files: filesOf(side), targets: targets() } : null),
      (answer, request) => (findings.value = { ...findings.peek(), [side]: answer && request && { ...answer, texts: request.files } }),
    );
  }
}
