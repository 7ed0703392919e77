// Shown while nothing is compared: what a comparison is for, and how to start one.
import { openLink } from "../share/openLink.ts";
import { Open } from "./open.tsx";
import { comparePresent, filled } from "./sides.ts";

export function Start() {
  return (
    <section class="compare-start">
      <h3>What would a push break?</h3>
      <p>
        A correct configuration can still make requests fail on its way to the proxies: Envoy applies clusters, endpoints, listeners and routes one after the other, so for a moment some are there and others are not. Compare the current configuration with the new one
        to see which requests fail if everything is pushed at once, and in which phases none fails.
      </p>
      <ul role="list">
        <li>
          <button type="button" disabled={!filled("after")} onClick={comparePresent}>
            Compare with these texts
          </button>
          <p>The open texts are the current configuration. Edit a copy of them into the new one.</p>
        </li>
        <li>
          <Open side="before" />
          <p>Open the current configuration: files, a folder or a config_dump. The open texts are the new one.</p>
        </li>
        <li>
          <button type="button" onClick={showPush}>
            Open an example
          </button>
          <p>A shop replaces its blue cart with a green one. The example replaces the open texts. You can bring them back.</p>
        </li>
      </ul>
    </section>
  );
}

const showPush = () => void openLink("#example=push");
