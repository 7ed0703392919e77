// Requests that get past a guard, with the commands that send them.
import { useSignal } from "@preact/signals";
import type { Hole, Step } from "../engine/shapes.ts";
import { troubleWith } from "../project/lint.ts";
import { More } from "../ui/more.tsx";
import { change, followed, holes, typed } from "./state.ts";
import { Place } from "./way.tsx";

export function Holes() {
  const everywhere = useSignal(false);
  const found = holes.value;
  if (!followed.value?.answer.target.startsWith("envoy:")) return null;
  const trouble = troubleWith("holes");
  const steps = typed.value ? followed.value.answer.steps : [];
  const here = found?.holes.filter((hole) => concerns(hole, steps)) ?? [];
  const limited = steps.length > 0 && here.length < (found?.holes.length ?? 0);
  const shown = limited && !everywhere.value ? here : (found?.holes ?? []);
  return (
    <section class="request-holes" aria-label="Holes">
      <h3>Holes</h3>
      <p class="muted">Requests that get to a guarded resource without the guard: client certificates, tokens, authorization, limits.</p>
      {limited && (
        <label>
          <input type="checkbox" checked={everywhere.value} onChange={(event) => (everywhere.value = event.currentTarget.checked)} /> Also of other hosts and clusters
        </label>
      )}
      {trouble && <p>Holes are not known: {trouble}.</p>}
      {!found && !trouble && <p class="muted">Looking for holes…</p>}
      {found && shown.length === 0 && <p>{limited ? "None was found for this host and cluster." : "None was found."}</p>}
      <More all={shown} first={5}>
        {(hole) => <One hole={hole} />}
      </More>
      {found?.partial && <p class="muted">Not all requests were tried, because there are too many. The command xdslint posture tries all.</p>}
    </section>
  );
}

/** Reports whether a hole is one of the virtual host or of a cluster of the steps. */
const concerns = (hole: Hole, steps: readonly Step[]) =>
  steps.some(({ kind, name }) => (kind === "virtual host" && name === hole.host) || (kind === "cluster" && hole.target.split(", ").includes(name)));

function One({ hole: { title, says, guards, more, curl } }: { hole: Hole }) {
  return (
    <article class="request-hole">
      <p>
        <strong>{title.charAt(0).toUpperCase() + title.slice(1)}</strong>
      </p>
      <p>{says}</p>
      <ul role="list">
        {guards.map((guard) => (
          <li>
            <Place location={guard.location} name={guard.says} />
          </li>
        ))}
      </ul>
      {more > 0 && <p class="muted">and {more} more of the same cause</p>}
      <pre tabIndex={0}>{curl}</pre>
      <button type="button" onClick={() => change({ text: curl, listener: "", sni: "", alpn: "", certificate: "", source: "" })}>
        Follow this request
      </button>
    </article>
  );
}
