import { restorePrevious, dismiss, previous, origin, showExample, type Origin } from "./origin.ts";
import "./share.css";

/** Says where the open texts come from, unless they are the user's own. */
export function OriginBar() {
  const from = origin.value;
  if (!from) return null;
  const failed = from.kind === "failure";
  return (
    <div class={`banner origin banner-${failed ? "error" : "info"}`} role={failed ? "alert" : "status"}>
      <Words of={from} />
      {previous.value && (
        <button type="button" onClick={restorePrevious}>
          Bring back my texts
        </button>
      )}
      <button type="button" class="quiet" aria-label="Close this message" onClick={dismiss}>
        ×
      </button>
    </div>
  );
}

function Words({ of }: { of: Origin }) {
  switch (of.kind) {
    case "failure":
      return <p>{of.message}</p>;
    case "link":
      return <p>Opened from a link. No server has seen these texts. {of.note}</p>;
    case "example":
      return <ExampleWords {...of} />;
  }
}

function ExampleWords({ example, fixed }: Extract<Origin, { kind: "example" }>) {
  return (
    <>
      <p data-example={example.name}>
        {fixed ? "Fixed example" : "Example"}: <strong>{example.title}</strong> <span class="summary">{example.summary}</span>
      </p>
      {example.rule && (
        <a href={`./rules/${example.rule}.html`} target="_blank" rel="noopener">
          About this rule
          <span class="hidden-text"> (opens a new tab)</span>
        </a>
      )}
      {example.fixed && (
        <button type="button" onClick={() => showExample(example, !fixed)}>
          {fixed ? "Show the mistake" : "Show the fix"}
        </button>
      )}
    </>
  );
}
