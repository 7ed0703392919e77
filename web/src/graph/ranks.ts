// In which column each box candidates. References go to the right, and what is of one kind candidates in one column as far as they let it.
import type { Model } from "./model.ts";

export function ranks(model: Model): Map<string, number> {
  const { order, back } = sorted(model);
  const first = longest(model, order, back, () => 0);
  const usual = columns(model, first);
  return longest(model, order, back, (id) => usual.get(model.boxes.get(id)?.kind ?? "") ?? 0);
}

/** All boxes, each before what it refers to; and the arrows that close a circle, which are left out of that. */
function sorted(model: Model): { order: string[]; back: Set<string> } {
  const state = new Map<string, "open" | "done">();
  const back = new Set<string>();
  const order: string[] = [];
  for (const root of model.boxes.keys()) {
    // No recursion: a chain of aggregate clusters may be as long as a text.
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

/** The column in which most boxes of a kind stand, select aside that nothing refers to. */
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
