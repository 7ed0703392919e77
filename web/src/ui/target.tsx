import { about } from "../engine/about.ts";
import { filesOf, settingsName, target } from "../project/project.ts";

/** Chooses the target. */
export function TargetChooser() {
  const known = about.value;
  const configured = settingsName in filesOf("after");
  const standard = configured ? `From ${settingsName}` : known ? `${known.default} (default)` : "The default";
  const others = known?.targets.filter((name) => configured || name !== known.default) ?? [];
  return (
    <label class="target">
      <span>Target</span>
      <select value={target.value} onChange={(event) => (target.value = event.currentTarget.value)}>
        <option value="">{standard}</option>
        {target.value !== "" && !others.includes(target.value) && <option value={target.value}>{target.value}</option>}
        {others.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
