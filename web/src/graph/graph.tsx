// The panel with the graph of references, as a picture or as a list.
import { useEffect } from "preact/hooks";
import { RequestBar } from "../request/bar.tsx";
import { Selected } from "./selected.tsx";
import { List } from "./list.tsx";
import { Notes } from "./notes.tsx";
import { PictureView, view } from "./picture.tsx";
import { asList, failed, follow, filtered, picture, complete } from "./state.ts";
import { Tools } from "./tools.tsx";
import "./graph.css";

export function Graph() {
  useEffect(follow, []);
  if (complete.value === null) return <p class="graph-empty">Reading the texts…</p>;
  if (complete.value.boxes.size === 0) {
    return (
      <div class="graph">
        <p class="graph-empty">Nothing to draw yet. Listeners, route configurations, clusters and endpoints in the texts appear here, with arrows for their references.</p>
        <Notes />
      </div>
    );
  }
  return (
    <div class="graph">
      <RequestBar />
      <Tools />
      <Body />
      <Notes />
      <Selected />
    </div>
  );
}

function Body() {
  if (filtered.value.boxes.size === 0) return <p class="graph-empty">Nothing matches the filter above.</p>;
  if (asList.value) return <List />;
  if (failed.value) return <p class="graph-empty">This graph cannot be drawn ({failed.value}). The list shows all of it.</p>;
  return (
    <div class="graph-picture">
      <PictureView />
      <div class="zoom" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => view.value?.zoom(1)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" title="Zoom out (−)" onClick={() => view.value?.zoom(-1)}>
          −
        </button>
        <button type="button" title="Show all (0)" onClick={() => picture.value && view.value?.fit(picture.value.at)}>
          Fit
        </button>
      </div>
    </div>
  );
}
