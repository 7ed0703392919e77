// The phases of a plan as the timeline shows them: in each, one lane for each type of resources.
import type { Location, Phase, PlanAnswer, PlanResource, ResourceType, Send, Touch, Update, Wait } from "../engine/shapes.ts";

/** What a phase does with a resource, in the order of listing. */
const words = ["new", "changed", "touched", "sent again", "as before", "temporary", "removed"] as const;
export type Word = (typeof words)[number];

export interface Item {
  name: string;
  location: Location | undefined; // undefined if it is in no text
  touched: readonly Touch[];
}

export interface Cell {
  api: string;
  lane: number; // from 0
  groups: { word: Word; items: Item[] }[];
}

export interface Row {
  why: string;
  cells: Cell[]; // in the order in which they are sent
  waits: string[];
}

export interface Timeline {
  lanes: string[]; // short names of the types, in the order of sending
  rows: Row[];
}

export function timeline(plan: PlanAnswer, types: readonly ResourceType[]): Timeline {
  const used = types.filter((t) => plan.phases.some((phase) => phase.send[t.type]));
  const resources = new Map(plan.resources.map((r) => [key(r.kind, r.name), r]));
  const sent = new Set<string>();
  const rows = plan.phases.map((phase) => ({
    why: phase.why,
    cells: used.flatMap(({ type, kind, api }, lane) => {
      const send = phase.send[type];
      return send ? [{ api, lane, groups: groups(send, kind, resources, sent) }] : [];
    }),
    waits: waits(phase, types),
  }));
  return { lanes: used.map((t) => t.api), rows };
}

const key = (kind: string, name: string) => `${kind}\n${name}`;

function groups(send: Send, kind: string, resources: ReadonlyMap<string, PlanResource>, sent: Set<string>): Cell["groups"] {
  const byWord = new Map<Word, Item[]>();
  const put = (word: Word, name: string, touched: readonly Touch[] = []) => {
    const resource = resources.get(key(kind, name));
    const old = word === "removed" || word === "as before";
    const item = { name, location: old ? (resource?.before ?? resource?.after) : (resource?.after ?? resource?.before), touched };
    const items = byWord.get(word);
    if (items) items.push(item);
    else byWord.set(word, [item]);
  };
  for (const { name, content, touched } of send.update) {
    const at = key(kind, name);
    put(wordFor(content, resources.get(at), sent.has(at)), name, touched);
    sent.add(at);
  }
  for (const name of send.remove) put("removed", name);
  return words.flatMap((word) => {
    const items = byWord.get(word);
    return items ? [{ word, items }] : [];
  });
}

function wordFor(content: Update["content"], resource: PlanResource | undefined, sent: boolean): Word {
  if (resource?.change === "temporary") return "temporary";
  if (content === "touched") return "touched";
  if (content === "old") return "as before";
  if (sent || resource?.change === "same") return "sent again";
  return resource?.change === "added" ? "new" : "changed";
}

/** The conditions for the next phase, in the words of xdslint plan. */
function waits(phase: Phase, types: readonly ResourceType[]): string[] {
  const api = (wait: Wait) => types.find((t) => t.type === wait.type)?.api ?? wait.type;
  const acks = phase.wait.filter((w) => w.for === "ack");
  const acked = acks.map((w) => {
    const removed = new Set(phase.send[w.type]?.remove);
    const withs = w.names.filter((n) => !removed.has(n));
    const withouts = w.names.filter((n) => removed.has(n));
    return [api(w), withs.length > 0 && `with ${list(withs)}`, withouts.length > 0 && `without ${list(withouts)}`].filter(Boolean).join(" ");
  });
  const others = phase.wait
    .filter((w) => w.for !== "ack")
    .map((w) =>
      w.for === "unsubscribe"
        ? `until Envoy no longer asks ${api(w)} for ${list(w.names)} (${short(w.timeout)} at most)`
        : `until the old connections of ${list(w.names)} are closed (${short(w.timeout)} at most; sooner if total_listeners_draining and total_filter_chains_draining of listener_manager are 0)`,
    );
  const [ack] = acks;
  return ack ? [`for the ACK of ${acked.join(", ")} (${short(ack.timeout)} at most)`, ...others] : others;
}

const longest = 5;

const list = (names: readonly string[]) => (names.length <= longest ? names.join(", ") : `${names.slice(0, longest - 1).join(", ")} and ${names.length - longest + 1} more`);

/** A duration of Go without the units that are zero: 10m0s is 10m. */
const short = (duration: string) => duration.replace(/(?<=[hm])0[ms](0s)?$/, "");
