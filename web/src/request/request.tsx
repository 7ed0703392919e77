// The panel that follows a request: its way, what comes back, and the holes of the configuration.
import { useEffect } from "preact/hooks";
import { show as showPanel } from "../ui/panels.ts";
import { RequestBar } from "./bar.tsx";
import { Form } from "./form.tsx";
import { Holes } from "./holes.tsx";
import { change, follow, followed, holes, typed, watchHoles } from "./state.ts";
import { Way } from "./way.tsx";
import "./request.css";

export function Request() {
  useEffect(() => follow(true), []);
  useEffect(watchHoles, []);
  const answer = followed.value?.answer;
  const walked = typed.value && answer && !answer.problem ? answer : null;
  return (
    <div class="request">
      <RequestBar />
      <Form />
      {!typed.value && <Start />}
      {walked && (
        <>
          <p class="request-title">
            <strong>{walked.title}</strong> <span class="muted">as {walked.target} does</span>{" "}
            <button type="button" class="link" onClick={() => showPanel("graph")}>
              Show in the graph
            </button>
          </p>
          <Way answer={walked} />
        </>
      )}
      <Holes />
    </div>
  );
}

/** Requests to begin with. */
function Start() {
  const examples = holes.value?.examples ?? [];
  return (
    <section class="request-start" aria-label="Start">
      <p>Which listener, filters, route and cluster does a request get to, what answers it, and why? Type one above. It is not sent anywhere: the answer comes from the texts.</p>
      {examples.length > 0 && (
        <ul role="list" aria-label="Examples">
          {examples.map((text) => (
            <li>
              <button type="button" class="link" onClick={() => change({ text })}>
                {text}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
