// A real browser on the built page. A request that leaves the origin or an uncaught error fails any test.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before } from "node:test";
import type { Browser, BrowserContext, BrowserContextOptions, ConsoleMessage, Page, Request, WebError } from "playwright-core";
import { address, dist, serve } from "../serve.ts";
import { launch } from "./chromium.ts";

/** The built page. */
export const built = process.env.DIST ?? dist;

const server = await serve(built, 0);
export const origin = address(server);

/** What a visit would send to another host comes to this proxy instead, be it from a page or from any worker. */
const left: string[] = [];
const proxy = createServer((request, response) => {
  left.push(request.url ?? "");
  response.writeHead(502).end();
}).on("connect", (request, socket) => {
  left.push(request.url ?? "");
  socket.destroy();
});

let browser: Browser | undefined;

before(async () => {
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  browser = await launch(["--process-per-site"]); // so that the pages of a context share the compiled engine
});

after(async () => {
  await browser?.close();
  server.close();
  proxy.close();
  assert.deepEqual(left, [], "requests left this machine");
});

async function newContext(options: BrowserContextOptions): Promise<BrowserContext> {
  assert.ok(browser, "there is no browser");
  const context = await browser.newContext({ proxy: { server: address(proxy), bypass: "127.0.0.1" }, baseURL: origin, ...options });
  context.setDefaultTimeout(300_000); // on a busy machine, Chromium takes half a minute to compile the larger engine
  await context.addInitScript(reportPeers);
  return context;
}

const shared = new Map<string, Promise<Shared>>(); // by their options

/** A context for visits that follow each other, and the page in it that is never closed. */
interface Shared {
  context: BrowserContext;
  idle: Page;
}

/** Opens a context with an empty page. As long as that is open, the browser keeps the process of the origin, with the compiled engine in it. */
async function share(options: BrowserContextOptions): Promise<Shared> {
  const context = await newContext(options);
  const idle = await context.newPage();
  await idle.route("/idle", (route) => route.fulfill({ contentType: "text/html", body: '<link rel="icon" href="data:,">' }));
  await idle.goto("/idle");
  return { context, idle };
}

/**
 * Opens the page as a new visitor would, and watches it until use has ended. Visits with the same options follow each other in one context, where the
 * browser keeps the compiled engine, and find nothing that the last one stored. There is no service worker.
 */
export async function visit(use: (page: Page) => Promise<unknown>, path = "/", options: BrowserContextOptions = {}): Promise<void> {
  const key = JSON.stringify(options);
  const opening = shared.get(key) ?? share({ ...options, serviceWorkers: "block" });
  shared.set(key, opening);
  const { context, idle } = await opening;
  await watched(context, origin, path, async (page) => {
    try {
      await use(page);
    } finally {
      const session = await context.newCDPSession(page);
      await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
      for (const open of context.pages()) if (open !== idle) await open.close();
    }
  });
}

/** Is visit in a context of its own, with a service worker: for tests that change the context. Visits may run at the same time. */
export async function visitAlone(use: (page: Page, context: BrowserContext) => Promise<unknown>, path = "/", options: BrowserContextOptions = {}): Promise<void> {
  const context = await newContext(options);
  await watched(context, options.baseURL ?? origin, path, async (page) => {
    try {
      await use(page, context);
    } finally {
      await context.close();
    }
  });
}

async function watched(context: BrowserContext, host: string, path: string, use: (page: Page) => Promise<void>): Promise<void> {
  const faults: string[] = [];
  const stop = watch(context, host, faults);
  try {
    const page = await context.newPage();
    await page.goto(path);
    await use(page);
  } catch (error) {
    throw faults.length === 0 ? error : new Error(`besides what failed, ${faults.join("; ")}`, { cause: error });
  } finally {
    stop();
  }
  assert.deepEqual(faults, [], "what no visit may see");
}

/** Notes what must not happen, in any page or worker of the context, until the function that it returns is called. */
function watch(context: BrowserContext, host: string, faults: string[]): () => void {
  const inside = (url: string) => new URL(url).origin === host || /^(data|blob):/.test(url);
  const onRequest = (request: Request) => {
    if (!inside(request.url())) faults.push(`a request leaves the origin: ${request.url()}`);
  };
  const onPage = (page: Page) => {
    page.on("websocket", (socket) => faults.push(`a socket: ${socket.url()}`));
    page.on("crash", () => faults.push("the page crashed"));
  };
  const onConsole = (message: ConsoleMessage) => {
    if (message.type() === "error") faults.push(`on the console: ${message.text()}`);
  };
  const onError = (error: WebError) => faults.push(`not caught: ${error.error().stack ?? error.error().message}`);
  context.on("request", onRequest).on("page", onPage).on("console", onConsole).on("weberror", onError);
  return () => context.off("request", onRequest).off("page", onPage).off("console", onConsole).off("weberror", onError);
}

/** Reports peer connections as errors. Playwright does not see them as requests, and they bypass a proxy. */
function reportPeers(): void {
  globalThis.RTCPeerConnection = class {
    constructor() {
      console.error("a peer connection");
    }
  } as unknown as typeof RTCPeerConnection;
}
