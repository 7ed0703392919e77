// The request bar: what is typed, and in a line what happens.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { engine } from "../engine/engine.ts";
import { asked } from "../project/project.ts";
import { inWords } from "./said.ts";
import { change, typed } from "./state.ts";
import "./bar.css";

export function RequestBar() {
  const { tone, words } = inWords();
  return (
    <div class="request-bar" role="search" aria-label="Request">
      <div class="typed">
        <textarea
          aria-label="Request to follow"
          aria-describedby="request-said"
          placeholder="Follow a request: GET https://shop.example.com/cart"
          rows={1}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          value={asked.value.text}
          onInput={(event) => change({ text: event.currentTarget.value })}
        />
        {typed.value && (
          <button type="button" class="quiet" aria-label="Clear the request" onClick={() => change({ text: "" })}>
            ×
          </button>
        )}
      </div>
      <p id="request-said" class={`request-said ${tone}`}>
        {words}{" "}
        {typeof engine.largerStatus.value === "object" && typed.value && (
          <button type="button" onClick={() => engine.loadLarger()}>
            Try again
          </button>
        )}
      </p>
      <Announced words={tone === "hint" ? "" : words} />
    </div>
  );
}

const pause = 1000; // milliseconds without a change

/** Announces the outcome to screen readers, once it is settled. */
function Announced({ words }: { words: string }) {
  const said = useSignal("");
  useEffect(() => {
    const timer = setTimeout(() => (said.value = words), pause);
    return () => clearTimeout(timer);
  }, [words]);
  return (
    <p class="hidden-text" role="status">
      {said.value}
    </p>
  );
}
