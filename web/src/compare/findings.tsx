// Findings about a push: the effect on traffic, and its causes in the texts of both sides.
import type { Finding, Location } from "../engine/shapes.ts";
import { reveal } from "../project/project.ts";
import { More } from "../ui/more.tsx";
import { placed } from "./sides.ts";

const first = 20;

export function Findings({ title, all, children }: { title: string; all: readonly Finding[]; children?: string }) {
  if (all.length === 0) return null;
  return (
    <section class="compare-section" aria-label={title}>
      <h3>{title}</h3>
      {children && <p class="muted">{children}</p>}
      <More all={all} first={first}>
        {(finding) => <One finding={finding} />}
      </More>
    </section>
  );
}

function One({ finding }: { finding: Finding }) {
  return (
    <article class="compare-finding" data-severity={finding.severity}>
      <p>
        <strong>{finding.severity}</strong> {finding.message}
      </p>
      <ul class="places" role="list">
        <li>
          <PlaceLink location={finding.location} />
        </li>
        {finding.related.map((related) => (
          <li>
            <PlaceLink location={related.location} /> {related.message}
          </li>
        ))}
      </ul>
      {finding.notes?.map((note) => (
        <p class="note">
          <Prose text={note} />
        </p>
      ))}
      <p class="muted">
        {finding.help && (
          <>
            Help: <Prose text={finding.help} />.{" "}
          </>
        )}
        <a href={`./rules/${finding.rule}.html`} target="_blank" rel="noopener">
          {finding.rule}
          <span class="hidden-text"> (opens a new tab)</span>
        </a>
      </p>
    </article>
  );
}

/** Renders backticks as code. */
const Prose = ({ text }: { text: string }) => <>{text.split("`").map((part, i) => (i % 2 === 1 ? <code>{part}</code> : part))}</>;

/** A place in the text of one side. */
function PlaceLink({ location }: { location: Location }) {
  const at = placed(location);
  const { file, start } = at.location;
  return (
    <button type="button" class="link place" onClick={() => reveal(at.side, at.location)}>
      {at.side} {file}
      {start && `:${start.line}:${start.column}`}
    </button>
  );
}
