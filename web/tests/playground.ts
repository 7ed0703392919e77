// A real browser on the built page. What no visit may see (a request that leaves the origin, an error that nobody caught) fails each test.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before } from "node:test";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
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
  browser = await launch();
});

after(async () => {
  await browser?.close();
  server.close();
  proxy.close();
  assert.deepEqual(left, [], "requests left this machine");
});

/** Opens the page in a fresh context, as a new visitor would, and watches it until use has ended. Visits may run at the same time. */
export async function visit(use: (page: Page, context: BrowserContext) => Promise<unknown>, path = "/", options: BrowserContextOptions = {}): Promise<void> {
  assert.ok(browser, "there is no browser");
  const { baseURL = origin } = options;
  const context = await browser.newContext({ proxy: { server: address(proxy), bypass: "127.0.0.1" }, ...options, baseURL });
  const faults = watch(context, baseURL);
  try {
    await context.addInitScript(refusePeers);
    const page = await context.newPage();
    await page.goto(path);
    await use(page, context);
  } catch (error) {
    throw faults.length === 0 ? error : new Error(`besides what failed, ${faults.join("; ")}`, { cause: error });
  } finally {
    await context.close();
  }
  assert.deepEqual(faults, [], "what no visit may see");
}

/** Notes what must not happen, in any page or worker of the context, as it happens. */
function watch(context: BrowserContext, host: string): string[] {
  const faults: string[] = [];
  const inside = (url: string) => new URL(url).origin === host || /^(data|blob):/.test(url);
  context.on("request", (request) => {
    if (!inside(request.url())) faults.push(`a request leaves the origin: ${request.url()}`);
  });
  context.on("page", (page) => {
    page.on("websocket", (socket) => faults.push(`a socket: ${socket.url()}`));
    page.on("crash", () => faults.push("the page crashed"));
  });
  context.on("console", (message) => {
    if (message.type() === "error") faults.push(`on the console: ${message.text()}`);
  });
  context.on("weberror", (error) => faults.push(`not caught: ${error.error().stack ?? error.error().message}`));
  return faults;
}

/** Peer connections are no requests, and pass by a proxy. */
function refusePeers(): void {
  globalThis.RTCPeerConnection = class {
    constructor() {
      console.error("a peer connection");
    }
  } as unknown as typeof RTCPeerConnection;
}
