// A picture of many boxes is hard to read, so similar boxes are folded into one: same kind, same state, same referrers.
import { modelOf, referrers, type Box, type Model } from "./model.ts";
import { ranks } from "./ranks.ts";

/** More boxes than this are folded. */
export const foldAbove = 200;
/** Fewer similar boxes than this are not folded. */
const minAlike = 5;

export function fold(model: Model, opened: ReadonlySet<string>): Model {
  if (model.boxes.size <= foldAbove) return model;
  const rank = ranks(model);
  const shownAs = new Map<string, string>();
  const names = (boxes: Box[]) => [...new Set(boxes.map(({ id }) => shownAs.get(id) ?? id))].sort();
  const boxes: Box[] = [];
  const columns = [...Map.groupBy(model.boxes.values(), (box) => rank.get(box.id) ?? 0)].sort(([a], [b]) => a - b);
  // Column by column: what refers to a box is to its left, so it is already known what that was folded into.
  for (const [, column] of columns) {
    const likeness = (box: Box) => JSON.stringify([box.snapshot, box.kind, box.state, box.severity, names(referrers(model, box.id))]);
    for (const alike of Map.groupBy(column, likeness).values()) {
      const folded = bundle(alike);
      const together = alike.length >= minAlike && !opened.has(folded.id);
      boxes.push(...(together ? [folded] : alike));
      for (const box of alike) shownAs.set(box.id, together ? folded.id : box.id);
    }
  }
  return modelOf(
    boxes,
    model.arrows.map((a) => ({ from: shownAs.get(a.from.id) ?? "", to: shownAs.get(a.to.id) ?? "", edges: a.edges })),
  );
}

function bundle(alike: Box[]): Box {
  const [first] = alike as [Box, ...Box[]];
  return { ...first, id: `folded:${first.id}`, name: "", location: null, findings: alike.reduce((sum, box) => sum + box.findings, 0), members: alike };
}
