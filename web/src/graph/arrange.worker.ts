// Lays boxes out in columns, in a worker: thousands of them take a second.
import { Graph, layout } from "@dagrejs/dagre";
import { boxHeight, boxWidth, type Answer, type Arrangement, type Group, type Point, type Sketch } from "./arrange.ts";

const between = { boxes: 14, columns: 52, groups: 64 };
const margin = 24;

onmessage = (event: MessageEvent<Sketch>) => {
  let answer: Answer;
  try {
    answer = arrange(event.data);
  } catch (error) {
    answer = { failed: String(error) };
  }
  postMessage(answer);
};

function arrange(sketch: Sketch): Arrangement {
  const all: Arrangement = { boxes: new Map(), arrows: new Map(), frames: [], width: 0, height: 0 };
  for (const group of sketch) {
    const top = all.height === 0 ? 0 : all.height + between.groups;
    const { width, height } = place(group, top, all);
    all.frames.push({ snapshot: group.snapshot, x: 0, y: top, width, height });
    all.width = Math.max(all.width, width);
    all.height = top + height;
  }
  return all;
}

/** Lays out one group, whose arrows all stay in it. */
function place(group: Group, top: number, into: Arrangement): { width: number; height: number } {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", ranker: "none", nodesep: between.boxes, ranksep: between.columns, edgesep: between.boxes, marginx: margin, marginy: margin });
  const rank = new Map(group.boxes.map((box) => [box.id, box.rank]));
  // Dagre keeps every other rank free for the labels of edges.
  for (const box of group.boxes) graph.setNode(box.id, { width: boxWidth, height: boxHeight, rank: box.rank * 2 });
  for (const arrow of group.arrows) {
    const [from, to] = (rank.get(arrow.from) ?? 0) < (rank.get(arrow.to) ?? 0) ? [arrow.from, arrow.to] : [arrow.to, arrow.from];
    if (from !== to) graph.setEdge(from, to, { labeloffset: 0 }, arrow.id);
  }
  layout(graph);
  for (const id of graph.nodes()) {
    const { x, y } = graph.node(id) as Point;
    into.boxes.set(id, { x: x - boxWidth / 2, y: top + y - boxHeight / 2 });
  }
  for (const e of graph.edges()) {
    // Every other bend is where the line passes a column, and it is straight there.
    const passed = (graph.edge(e) as { points: Point[] }).points.slice(1, -1).filter((_, i) => i % 2 === 1);
    into.arrows.set(e.name ?? "", passed.flatMap(({ x, y }) => [-boxWidth / 2, boxWidth / 2].map((aside) => ({ x: x + aside, y: top + y }))));
  }
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { width, height };
}
