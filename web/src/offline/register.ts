// Keeps the page for use without a network. Until the first findings are shown, network and processor are theirs.
if (import.meta.env.PROD) {
  new PerformanceObserver((_, observer) => {
    if (performance.getEntriesByName("xdslint:first-findings").length === 0) return;
    observer.disconnect();
    navigator.serviceWorker?.register("./sw.js", { updateViaCache: "none" }).catch(() => {
      // As where the browser keeps nothing: the page works all the same, while there is a network.
    });
  }).observe({ type: "mark", buffered: true });
}
