// Details and actions of the box that was clicked last.
import { noLimit } from "./filter.ts";
import { placeOf, words } from "./model.ts";
import { selected, changeFilter, filter, show, complete } from "./state.ts";

const depths = [
  { value: 0, label: "everything" },
  { value: 1, label: "1 reference away" },
  { value: 2, label: "2 references away" },
  { value: 3, label: "3 references away" },
  { value: noLimit, label: "everything connected to it" },
];

export function Selected() {
  const model = complete.value;
  const box = model?.boxes.get(selected.value ?? "");
  if (!model || !box) return null;
  const { around } = filter.value;
  const place = placeOf(model, box);
  const limit = (depth: number) => changeFilter({ around: depth === 0 ? null : { id: box.id, depth } });
  return (
    <section class="graph-selected" aria-label="Selected box">
      <p>{words(model, box)}</p>
      {place && (
        <button type="button" onClick={() => show(place)}>
          {place.file}
          {place.start && `:${place.start.line}`}
        </button>
      )}
      <label>
        Show{" "}
        <select aria-label="How much to show around it" value={String(around?.id === box.id ? around.depth : 0)} onChange={(e) => limit(Number(e.currentTarget.value))}>
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
