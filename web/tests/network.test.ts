import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import sirv from "sirv";
import { address } from "../serve.ts";
import { built, visitAlone } from "./playground.ts";
import { opened } from "./opened.ts";

const secret = "hunter2-correct-horse";
const text = `static_resources:
  clusters:
  - name: backend # password: ${secret}
    connect_timeout: -1s
`;

test("nothing leaves in all that can be done with a text: only files of the page are asked for", () =>
  visitAlone(
    async (page, context) => {
      const asked: string[] = [];
      context.on("request", (request) => {
        const url = new URL(request.url());
        if (url.protocol !== "blob:" && url.protocol !== "data:") asked.push(`${request.method()} ${url.pathname}${url.search}${request.postData() ?? ""}`);
      });
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.reload();
      await page.getByRole("link", { name: "schema/constraint" }).first().waitFor();

      const editor = page.getByRole("textbox", { name: "Text of envoy.yaml" });
      await editor.click();
      await page.keyboard.press("Control+End");
      await page.keyboard.type(`# token: ${secret}\n`);
      await page.getByRole("tab", { name: "Graph" }).click();
      await page.getByRole("group", { name: /^Graph/ }).getByRole("button").first().waitFor();
      await page.getByRole("tab", { name: "Compare" }).click();
      await page.getByRole("button", { name: "Compare with these texts" }).click();
      await page.getByText("The new configuration has errors").first().waitFor();
      await page.getByRole("button", { name: "Copy link" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Copy link without the secrets" }).click();
      await page.keyboard.press("Escape");
      await page.waitForFunction(() => navigator.serviceWorker.controller?.state === "activated");

      await page.goto("/rules/");
      await page.getByRole("link", { name: "schema/constraint" }).click();
      await page.getByRole("heading", { level: 1 }).waitFor();

      assert.ok(asked.length > 10, `only ${asked.length} requests were seen`);
      for (const request of asked) {
        const [method, path = ""] = request.split(" ");
        const file = path.endsWith("/") ? `${path}index.html` : path;
        assert.ok(method === "GET" && existsSync(join(built, file)), `no file of the page: ${request}`);
        assert.ok(!request.includes(secret), `the text is in a request: ${request}`);
      }
    },
    opened({ "envoy.yaml": text }),
  ));

test("from a host without headers, too, the browser blocks what would leave", async (t) => {
  const server = createServer(sirv(built)).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const leave = visitAlone((page) => page.evaluate(() => fetch("https://elsewhere.example/").then(String, () => undefined)), "/", { baseURL: address(server) });
  await assert.rejects(leave, (error: assert.AssertionError) => /'https:\/\/elsewhere.example\/' violates .* Content Security Policy/.test(String(error.actual)));
});
