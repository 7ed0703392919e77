// The service worker: it keeps every file of the page, so that the page works without a network. The build puts `version` and the lists before it.
type Digests = Record<string, string>; // by the path of a file

declare const version: string;
declare const files: Digests;
declare const onDemand: Digests; // kept when somebody first asks for it, and from then on in each version

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
  const all = { ...files, ...(await demanded()) };
  await Promise.all(Object.entries(all).map(([path, digest]) => keep(cache, path, digest)));
  await worker.skipWaiting();
}

/** Of the files on demand those that some version has kept. */
async function demanded(): Promise<Digests> {
  const stem = (path: string) => path.replace(/-[^/]*$/, ""); // of a name that changes with the content
  const kept = new Set<string>();
  for (const key of await ourKeys()) {
    for (const { url } of await (await caches.open(key)).keys()) kept.add(stem(url));
  }
  return Object.fromEntries(Object.entries(onDemand).filter(([path]) => kept.has(stem(new URL(path, scope).href))));
}

const ourKeys = async () => (await caches.keys()).filter((key) => key.startsWith(ours));

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
  const older = (await ourKeys()).filter((key) => key !== cacheName);
  await Promise.all(older.slice(0, -1).map((key) => caches.delete(key)));
  await worker.clients.claim();
}

async function answer(request: Request): Promise<Response> {
  const url = new URL(request.url);
  url.search = "";
  if (url.pathname.endsWith("/")) url.pathname += "index.html";
  const cache = await caches.open(cacheName);
  const path = url.href.slice(scope.length);
  const digest = onDemand[path];
  if (digest) await keep(cache, path, digest).catch(() => {}); // then it is fetched for this time only
  return (await cache.match(url)) ?? (await caches.match(url)) ?? fetch(request);
}
