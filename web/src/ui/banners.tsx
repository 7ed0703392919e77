// Messages and errors of the page itself, above the text and the panels.
import type { ComponentChildren } from "preact";
import { engine } from "../engine/engine.ts";
import { answersOf } from "../problems/checked.tsx";
import { troubles } from "../project/lint.ts";
import { notice } from "./notice.ts";
import "./banners.css";

export function Banners() {
  const status = engine.status.value;
  const larger = engine.largerStatus.value;
  const crash = troubles.value.find((trouble) => trouble.crashed);
  const rejection = troubles.value.find((trouble) => trouble.operation === "lint" && !trouble.crashed);
  return (
    <>
      {typeof status === "object" && (
        <Banner tone="error">
          <p>The engine could not be started: {status.failed} Your text is kept.</p>
          <button type="button" onClick={() => engine.start()}>
            Try again
          </button>
        </Banner>
      )}
      {typeof larger === "object" && answersOf().some((answer) => answer.needs) && (
        <Banner tone="error">
          <p>The constraints in .xdslint.yaml are not checked. The larger engine that they need could not be started: {larger.failed} All other rules are checked.</p>
          <button type="button" onClick={() => engine.loadLarger()}>
            Try again
          </button>
        </Banner>
      )}
      {crash && (
        <Banner tone="error">
          <p>
            The engine crashed on this input and was restarted. Your text is kept. Change it to check again. <span class="muted">({crash.message})</span>
          </p>
        </Banner>
      )}
      {rejection && (
        <Banner tone="error">
          <p>The texts could not be checked: {rejection.message}</p>
        </Banner>
      )}
      <div role="status">
        {notice.value !== "" && (
          <Banner tone="info">
            <p>{notice.value}</p>
            <button type="button" class="quiet" aria-label="Close this message" onClick={() => (notice.value = "")}>
              ×
            </button>
          </Banner>
        )}
      </div>
    </>
  );
}

function Banner({ tone, children }: { tone: "error" | "info"; children: ComponentChildren }) {
  return (
    <div class={`banner banner-${tone}`} role={tone === "error" ? "alert" : undefined}>
      {children}
    </div>
  );
}
