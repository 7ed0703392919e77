// The service worker keeps every file of the page, so that it works without a network. The build adds `version` and the lists above.
type Digests = Record<string, string>; // by path

declare const version: string;
declare const files: Digests;
declare const onDemand: Digests; // kept when first requested, and from then on in each version

const worker = self as unknown as ServiceWorkerGlobalScope;
const { scope } = worker.registration;
const ours = `xdslint ${scope} `; // other pages of the same origin have their own caches
const cacheName = ours + version;

worker.addEventListener("install", (event) => event.waitUntil(install()));
worker.addEventListener("activate", (event) => event.waitUntil(takeOver()));
worker.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && url.startsWith(scope)) event.respondWith(answer(event.request));
});

/** Fails as a whole if a file is not of this version, for example while a new version is being uploaded. */
async function install(): Promise<void> {
  const cache = await caches.open(cacheName);
  const all = { ...files, ...(await demanded()) };
  await Promise.all(Object.entries(all).map(([path, digest]) => keep(cache, path, digest)));
  await worker.skipWaiting();
}

/** The files on demand that some version has kept. */
async function demanded(): Promise<Digests> {
  const stem = (path: string) => path.replace(/-[^/]*$/, ""); // names change with the content
  const kept = new Set<string>();
  for (const key of await ourKeys()) {
    for (const { url } of await (await caches.open(key)).keys()) kept.add(stem(url));
  }
  return Object.fromEntries(Object.entries(onDemand).filter(([path]) => kept.has(stem(new URL(path, scope).href))));
}

const ourKeys = async () => (await caches.keys()).filter((key) => key.startsWith(ours));

async function keep(cache: Cache, path: string, integrity: string): Promise<void> {
  const url = new URL(path, scope).href;
  if (await cache.match(url)) return; // from an interrupted install
  // Names under assets/ change with the content, so files of an older version or of the page itself are reused.
  const lasting = path.startsWith("assets/");
  const response = (lasting && (await caches.match(url))) || (await fetch(url, { integrity, cache: lasting ? "default" : "no-cache" }));
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const { body, headers } = response;
  await cache.put(url, new Response(body, { headers })); // a copy, because a redirected response cannot answer a navigation
}

/** Open pages of the previous version may still load parts, so its cache is kept. */
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
  if (digest) await keep(cache, path, digest).catch(() => {}); // if that fails, it is fetched below
  return (await cache.match(url)) ?? (await caches.match(url)) ?? fetch(request);
}
