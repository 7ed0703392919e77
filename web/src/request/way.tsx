// The steps of a request, from the listener to what answers it.
import type { Candidate, FollowAnswer, Location, Setting, Step } from "../engine/shapes.ts";
import { More } from "../ui/more.tsx";
import { show } from "./state.ts";

export function Way({ answer }: { answer: FollowAnswer }) {
  const [first = "", ...rest] = answer.outcome;
  return (
    <ol class="request-way" role="list" aria-label="The way of the request">
      {answer.steps.map((step, i) => (
        <li key={i} class={`step ${step.state}`} data-kind={step.kind}>
          <StepOf step={step} />
        </li>
      ))}
      <li class={`step outcome ${answer.tone}`}>
        {answer.doubtful && <p>Unless a filter answers, this happens:</p>}
        <p>
          <strong>{first}</strong>
        </p>
        {rest.length > 0 && (
          <ul role="list">
            {rest.map((line) => (
              <li>{line}</li>
            ))}
          </ul>
        )}
        <Unknown answer={answer} />
      </li>
    </ol>
  );
}

function StepOf({ step: { kind, name, says, location, settings, passed } }: { step: Step }) {
  return (
    <>
      <p>
        <span class="kind">{kind}</span> {name !== "" && <Place location={location} name={name} />} {says && <span class="says">{says}</span>}
      </p>
      {passed.length > 0 && (
        <More all={passed} first={3} class="passed" label="Passed over">
          {(candidate) => <Passed candidate={candidate} />}
        </More>
      )}
      {settings.length > 0 && <Settings all={settings} />}
    </>
  );
}

const Passed = ({ candidate: { name, why, location } }: { candidate: Candidate }) => (
  <>
    not <Place location={location} name={name} />: {why}
  </>
);

function Settings({ all }: { all: readonly Setting[] }) {
  return (
    <details class="settings">
      <summary>Settings</summary>
      {all.map(({ of, text, location }) => (
        <>
          <p>
            of <Place location={location} name={of} />
          </p>
          <pre tabIndex={0}>{text}</pre>
        </>
      ))}
    </details>
  );
}

/** What depends on others. */
function Unknown({ answer: { unknown } }: { answer: FollowAnswer }) {
  if (unknown.length === 0) return null;
  return (
    <ul class="unknown" role="list" aria-label="Not known">
      {unknown.map(({ field, why }) => (
        <li>
          <strong>{field.replaceAll("_", " ")}</strong> is not known: {why}
        </li>
      ))}
    </ul>
  );
}

/** A name with a link to its place in the text. */
export function Place({ location, name }: { location: Location | null; name: string }) {
  if (!location) return <span class="name">{name}</span>;
  return (
    <button type="button" class="link name" title={location.start ? `${location.file}:${location.start.line}` : location.file} onClick={() => show(location)}>
      {name}
    </button>
  );
}
