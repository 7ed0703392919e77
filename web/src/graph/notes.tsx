// What the picture does not show, and why.
import { noFilter } from "./filter.ts";
import { count } from "./model.ts";
import { foldable, filtered, filter, opened, picture, stale, unreadable, complete, asList } from "./state.ts";

export function Notes() {
  return (
    <div class="graph-notes" role="status">
      <Unreadable />
      <Filtered />
      {!asList.value && <Folded />}
    </div>
  );
}

function Unreadable() {
  if (unreadable.value.length === 0) return null;
  const texts = unreadable.value.join(", ");
  return stale.value ? <p>The graph shows an earlier version, because {texts} cannot be parsed now.</p> : <p>Not drawn, because it cannot be parsed: {texts}. See Problems.</p>;
}

function Filtered() {
  const all = complete.value?.boxes.size ?? 0;
  const shown = filtered.value.boxes.size;
  if (shown === all) return null;
  return (
    <p>
      {shown.toLocaleString("en")} of {count(all, "name")} shown.
      <button type="button" onClick={() => (filter.value = noFilter)}>
        Show all
      </button>
    </p>
  );
}

function Folded() {
  const drawn = [...(picture.value?.model.boxes.values() ?? [])];
  const bundles = drawn.filter((box) => box.members.length > 0);
  const names = bundles.reduce((sum, box) => sum + box.members.length, 0);
  const anyOpen = opened.value === "all" || opened.value.size > 0;
  if (bundles.length === 0 && !(anyOpen && foldable.value)) return null;
  return (
    <p>
      {bundles.length > 0 && `${count(names, "name")} with the same references are folded into ${bundles.length === 1 ? "1 box" : `${bundles.length} boxes`}. Select a box to open it.`}
      {bundles.length === 0 && `All ${count(drawn.length, "name")} are drawn.`}
      {bundles.length > 0 && (
        <button type="button" onClick={() => (opened.value = "all")}>
          Open all
        </button>
      )}
      {anyOpen && (
        <button type="button" onClick={() => (opened.value = new Set())}>
          Fold again
        </button>
      )}
    </p>
  );
}
