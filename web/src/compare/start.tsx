// What is shown as long as nothing is compared: what a comparison is for, and how to begin one.
import { openLink } from "../share/openLink.ts";
import { Open } from "./open.tsx";
import { comparePresent, filled } from "./sides.ts";

export function Start() {
  return (
    <section class="compare-start">
      <h3>What would a push break?</h3>
      <p>
        A configuration can be right and still fail requests on its way to the proxies: Envoy takes over clusters, endpoints, listeners and routes one after the other, and for a moment some are there and others are not. Compare what the proxies have with what they are to get,
        and see which requests fail if all of it is pushed at once, and in which phases none does.
      </p>
      <ul role="list">
        <li>
          <button type="button" disabled={!filled("after")} onClick={comparePresent}>
            Compare with these texts
          </button>
          <p>The open texts are what the proxies have. Then edit them into what they are to get.</p>
        </li>
        <li>
          <Open side="before" />
          <p>They are what the proxies have: files, a folder or a config_dump. The open texts are what they are to get.</p>
        </li>
        <li>
          <button type="button" onClick={showPush}>
            Open an example
          </button>
          <p>A shop releases its cart blue and green. It takes the place of the open texts, which can be brought back.</p>
        </li>
      </ul>
    </section>
  );
}

const showPush = () => void openLink("#example=push");
