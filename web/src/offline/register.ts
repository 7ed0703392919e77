// Keeps the page for use without a network, but only after the first findings are shown.
import { effect, signal } from "@preact/signals";
import { engine } from "../engine/engine.ts";
import { addresses } from "../engine/kinds.ts";

if (import.meta.env.PROD) {
  new PerformanceObserver((_, observer) => {
    if (performance.getEntriesByName("xdslint:first-findings").length === 0) return;
    observer.disconnect();
    navigator.serviceWorker?.register("./sw.js", { updateViaCache: "none" }).catch(() => {
      // The browser stores nothing here. The page still works with a network.
    });
  }).observe({ type: "mark", buffered: true });

  // The service worker keeps the larger engine when it is requested. In a first visit that may happen before the service worker is there.
  const controlled = signal(false);
  navigator.serviceWorker?.addEventListener("controllerchange", () => (controlled.value = true));
  effect(() => {
    if (controlled.value && engine.largerStatus.value === "done") void request(addresses.larger).catch(() => {});
  });
}

/** An answer that is not read to its end would keep the next version of the service worker waiting, five minutes in Chromium. */
async function request(address: string): Promise<void> {
  await (await fetch(address)).body?.cancel();
}
