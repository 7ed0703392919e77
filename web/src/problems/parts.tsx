// The parts of a finding, shared by the list and the tooltip.
import type { Files, Fix, Severity } from "../engine/shapes.ts";
import { settingsIn, isCustom, shownRule } from "../custom/rules.ts";
import "./parts.css";

export function Word({ severity }: { severity: Severity }) {
  return <strong class={`severity ${severity}`}>{severity}</strong>;
}

export function Notes({ notes = [] }: { notes: string[] | undefined }) {
  return notes.length > 0 ? (
    <ul class="notes" role="list">
      {notes.map((note) => (
        <li>{note}</li>
      ))}
    </ul>
  ) : null;
}

export const Help = ({ help }: { help: string | undefined }) => (help ? <p class="help">Help: {help}</p> : null);

export const FixLabel = ({ fix }: { fix: Fix }) => (
  <>
    Fix: {fix.message}{" "}
    <span class="muted" title={fix.safe ? "It cannot make a request fail that succeeds today." : "It is probably what was meant. Check it before you keep it."}>
      ({fix.safe ? "safe" : "likely"})
    </span>
  </>
);

export function Fixes({ fixes, apply, tabIndex }: { fixes: readonly Fix[]; apply(fix: Fix): void; tabIndex?: number }) {
  return fixes.length > 0 ? (
    <p class="fixes">
      {fixes.map((fix) => (
        <button type="button" class="fix" tabIndex={tabIndex} onClick={() => apply(fix)}>
          <FixLabel fix={fix} />
        </button>
      ))}
    </p>
  ) : null;
}

interface RuleProperties {
  rule: string;
  texts: Files; // that it found something in
  tabIndex?: number;
}

/** A built-in rule has a page, which opens in a new tab. A custom rule opens a dialog. */
export const RuleLink = ({ rule, texts, tabIndex }: RuleProperties) =>
  isCustom(rule) ? (
    <button type="button" class="link rule" tabIndex={tabIndex} aria-haspopup="dialog" onClick={() => (shownRule.value = { rule, files: settingsIn(rule, texts) })}>
      {rule}
    </button>
  ) : (
    <a class="rule" href={`./rules/${rule}.html`} target="_blank" rel="noreferrer" tabIndex={tabIndex}>
      {rule}
    </a>
  );
