// One problem in the list.
import type { Location } from "../engine/shapes.ts";
import { applyFix } from "../editor/documents.ts";
import { reveal } from "../project/project.ts";
import type { Problem } from "./findings.ts";
import { Fixes, Help, RuleLink } from "./parts.tsx";

const lineOf = ({ start }: Location) => (start ? `${start.line}:${start.column}` : "");

interface Properties {
  problem: Problem;
  here: boolean; // the one problem that the Tab key reaches
  come(): void;
}

export function Item({ problem: { side, found, finding }, here, come }: Properties) {
  const { severity, message, location, help, fixes, related, rule } = finding;
  const tabIndex = here ? 0 : -1;
  return (
    <li class="problem" onFocusIn={come}>
      <button type="button" class="jump" tabIndex={tabIndex} onClick={() => reveal(side, location)}>
        <span class={`severity ${severity}`}>
          <span class="hidden-text">{severity}: </span>
        </span>
        <span class="message">{message}</span>{" "}
        {location.start && (
          <span class="at">
            <span class="hidden-text">line </span>
            {lineOf(location)}
          </span>
        )}
      </button>
      <Help help={help} />
      <div class="foot">
        <Fixes fixes={fixes} apply={(fix) => applyFix(side, found, finding, fix)} tabIndex={tabIndex} />
        {rule && <RuleLink rule={rule} texts={found.texts} tabIndex={tabIndex} />}
      </div>
      {related.length > 0 && (
        <ul class="related" role="list">
          {related.map((other) => (
            <li>
              <button type="button" class="link" tabIndex={tabIndex} onClick={() => reveal(side, other.location)}>
                {other.location.file}
                {other.location.start && `:${lineOf(other.location)}`}
              </button>{" "}
              {other.message}
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
