// The service worker: it keeps every file of the page, so that the page works without a network. The build puts `version` and `files` before it.
declare const version: string;
declare const files: Record<string, string>; // path → digest

const worker = self as unknown as ServiceWorkerGlobalScope;
const { scope } = worker.registration;
const ours = `xdslint ${scope} `; // other pages of the same origin have caches of their own
const cacheName = ours + version;

worker.addEventListener("install", (event) => event.waitUntil(install()));
worker.addEventListener("activate", (event) => event.waitUntil(takeOver()));
worker.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && url.startsWith(scope)) event.respondWith(answer(event.request));
});

/** It fails as a whole when a file is not the one of this version, as while a new version is being put on the host. */
async function install(): Promise<void> {
  const cache = await caches.open(cacheName);
  await Promise.all(Object.entries(files).map(([path, digest]) => keep(cache, path, digest)));
  await worker.skipWaiting();
}

async function keep(cache: Cache, path: string, integrity: string): Promise<void> {
  const url = new URL(path, scope).href;
  if (await cache.match(url)) return; // from an install that was cut short
  // A name under assets/ changes with the content: what an older version or the page itself has loaded is not loaded again.
  const lasting = path.startsWith("assets/");
  const response = (lasting && (await caches.match(url))) || (await fetch(url, { integrity, cache: lasting ? "default" : "no-cache" }));
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const { body, headers } = response;
  await cache.put(url, new Response(body, { headers })); // a new one, since a page cannot be made of a response that was redirected
}

/** Pages of the version before may still be open, and load parts later: its cache stays as long as this version. */
async function takeOver(): Promise<void> {
  const older = (await caches.keys()).filter((key) => key.startsWith(ours) && key !== cacheName);
  await Promise.all(older.slice(0, -1).map((key) => caches.delete(key)));
  await worker.clients.claim();
}

async function answer(request: Request): Promise<Response> {
  const url = new URL(request.url);
  url.search = "";
  if (url.pathname.endsWith("/")) url.pathname += "index.html";
  const cache = await caches.open(cacheName);
  return (await cache.match(url)) ?? (await caches.match(url)) ?? fetch(request);
}
