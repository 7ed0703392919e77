// A component that is loaded when it is first shown.
import { useSignalEffect, useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";

export function lazy(name: string, load: () => Promise<FunctionComponent>): FunctionComponent {
  let loaded: FunctionComponent | undefined;
  return () => {
    const state = useSignal<"loading" | "loaded" | "failed">(loaded ? "loaded" : "loading");
    useSignalEffect(() => {
      if (state.value !== "loading") return;
      load().then(
        (component) => {
          loaded = component;
          state.value = "loaded";
        },
        () => (state.value = "failed"),
      );
    });
    if (state.value === "loaded" && loaded) {
      const Loaded = loaded;
      return <Loaded />;
    }
    if (state.value === "loading") return <p class="placeholder muted">Loading…</p>;
    return (
      <p class="placeholder" role="alert">
        {name} could not be loaded. <button onClick={() => location.reload()}>Reload the page</button>
      </p>
    );
  };
}
