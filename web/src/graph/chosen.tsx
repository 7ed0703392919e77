// What there is to say and to do about the box that was clicked last.
import { noLimit } from "./narrow.ts";
import { placeOf, words } from "./net.ts";
import { chosen, narrowBy, narrowing, show, whole } from "./state.ts";

const depths = [
  { value: 0, label: "everything" },
  { value: 1, label: "1 reference around it" },
  { value: 2, label: "2 references around it" },
  { value: 3, label: "3 references around it" },
  { value: noLimit, label: "all that leads there and all it leads to" },
];

export function Chosen() {
  const net = whole.value;
  const box = net?.boxes.get(chosen.value ?? "");
  if (!net || !box) return null;
  const { around } = narrowing.value;
  const place = placeOf(net, box);
  const limit = (depth: number) => narrowBy({ around: depth === 0 ? null : { id: box.id, depth } });
  return (
    <section class="graph-chosen" aria-label="The chosen name">
      <p>{words(net, box)}</p>
      {place && (
        <button type="button" onClick={() => show(place)}>
          {place.file}
          {place.start && `:${place.start.line}`}
        </button>
      )}
      <label>
        Show{" "}
        <select aria-label="Show how much around it" value={String(around?.id === box.id ? around.depth : 0)} onChange={(e) => limit(Number(e.currentTarget.value))}>
          {depths.map(({ value, label }) => (
            <option key={value} value={String(value)}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </section>
  );
}
