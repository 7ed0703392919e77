// Keeps the page for use without a network. Until the first findings are shown, network and processor are theirs.
import { effect, signal } from "@preact/signals";
import { engine } from "../engine/engine.ts";
import { addresses } from "../engine/kinds.ts";

if (import.meta.env.PROD) {
  new PerformanceObserver((_, observer) => {
    if (performance.getEntriesByName("xdslint:first-findings").length === 0) return;
    observer.disconnect();
    navigator.serviceWorker?.register("./sw.js", { updateViaCache: "none" }).catch(() => {
      // As where the browser keeps nothing: the page works all the same, while there is a network.
    });
  }).observe({ type: "mark", buffered: true });

  // The service worker keeps the larger engine when it is asked for, but in a first visit that may be before it is there.
  const controlled = signal(false);
  navigator.serviceWorker?.addEventListener("controllerchange", () => (controlled.value = true));
  effect(() => {
    if (controlled.value && engine.largerStatus.value === "done") void fetch(addresses.larger).catch(() => {});
  });
}
