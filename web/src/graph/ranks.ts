// The column of each box. References point to the right, and boxes of one kind share a column where possible.
import type { Model } from "./model.ts";

export function ranks(model: Model): Map<string, number> {
  const { order, back } = sorted(model);
  const first = longest(model, order, back, () => 0);
  const usual = columns(model, first);
  return longest(model, order, back, (id) => usual.get(model.boxes.get(id)?.kind ?? "") ?? 0);
}

/** Sorts the boxes topologically. Arrows that close a cycle are ignored and returned in back. */
function sorted(model: Model): { order: string[]; back: Set<string> } {
  const state = new Map<string, "open" | "done">();
  const back = new Set<string>();
  const order: string[] = [];
  for (const root of model.boxes.keys()) {
    // Not recursive, because a chain of aggregate clusters may be very long.
    const path = state.has(root) ? [] : [{ id: root, next: 0 }];
    if (path.length > 0) state.set(root, "open");
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const arrow = model.out.get(top.id)?.[top.next++];
      if (!arrow) {
        state.set(top.id, "done");
        order.push(top.id);
        path.pop();
      } else if (state.get(arrow.to.id) === "open") {
        back.add(arrow.id);
      } else if (!state.has(arrow.to.id)) {
        state.set(arrow.to.id, "open");
        path.push({ id: arrow.to.id, next: 0 });
      }
    }
  }
  return { order: order.reverse(), back };
}

function longest(model: Model, order: readonly string[], back: ReadonlySet<string>, least: (id: string) => number): Map<string, number> {
  const rank = new Map<string, number>();
  for (const id of order) {
    const own = Math.max(least(id), rank.get(id) ?? 0);
    rank.set(id, own);
    for (const arrow of model.out.get(id) ?? []) {
      if (!back.has(arrow.id)) rank.set(arrow.to.id, Math.max(own + 1, rank.get(arrow.to.id) ?? 0));
    }
  }
  return rank;
}

/** The column of most boxes of a kind. Boxes without referrers are not counted. */
function columns(model: Model, rank: ReadonlyMap<string, number>): Map<string, number> {
  const votes = new Map<string, Map<number, number>>();
  for (const box of model.boxes.values()) {
    if (!model.into.has(box.id)) continue;
    const of = votes.get(box.kind) ?? new Map<number, number>();
    const at = rank.get(box.id) ?? 0;
    votes.set(box.kind, of.set(at, (of.get(at) ?? 0) + 1));
  }
  const most = (of: Map<number, number>) => [...of].reduce((best, entry) => (entry[1] > best[1] || (entry[1] === best[1] && entry[0] > best[0]) ? entry : best))[0];
  return new Map([...votes].map(([kind, of]) => [kind, most(of)]));
}
