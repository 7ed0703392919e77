// The answer in a sentence.
import { engine } from "../engine/engine.ts";
import { troubleWith } from "../project/lint.ts";
import { followed, stale, typed } from "./state.ts";

export interface Said {
  tone: "passes" | "answers" | "unknown" | "problem" | "hint";
  words: string;
}

const said = (tone: Said["tone"], words: string): Said => ({ tone, words });

export function inWords(): Said {
  if (!typed.value) return said("hint", hint());
  const larger = engine.largerStatus.value;
  if (larger === "loading") return said("hint", "Loading the engine that follows requests…");
  if (typeof larger === "object") return said("problem", `Requests are not followed, because the engine for them could not be started: ${larger.failed}`);
  const trouble = troubleWith("follow");
  if (trouble && larger === "done" && !stale.value) return said("problem", `The request is not followed: ${trouble}.`);
  const answer = followed.value?.answer;
  if (!answer) return said("hint", "Following the request…");
  if (answer.problem) return said("problem", `${answer.problem.charAt(0).toUpperCase()}${answer.problem.slice(1)}.`);
  const [first = ""] = answer.outcome;
  const words = answer.doubtful ? `Unless a filter answers: ${first}` : first;
  return said(answer.doubtful ? "unknown" : answer.tone, stale.value ? `${words} (An earlier version of the texts, because they cannot be parsed now.)` : words);
}

const hint = () =>
  followed.value?.answer.target.startsWith("grpc")
    ? "The target of a channel and a method, such as xds:///orders.shop:443 /shop.Orders/Get. Metadata goes on the lines below."
    : "A method and a URL, with headers on the lines below as in HTTP, or a curl command.";
