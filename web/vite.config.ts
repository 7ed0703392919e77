import { defineConfig, type Plugin } from "vite";
import { policy } from "./policy.ts";
import { rulePages } from "./rules/plugin.ts";
import { serviceWorker } from "./sw/plugin.ts";

/** The policy is also in the page itself, for hosts that send no headers. */
const contentSecurityPolicy: Plugin = {
  name: "content-security-policy",
  apply: "build",
  transformIndexHtml: () => [{ tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: policy }, injectTo: "head-prepend" }],
};

export default defineConfig({
  base: "./", // any static host, any folder
  worker: { format: "es" },
  build: { target: "es2023", assetsInlineLimit: 0, rolldownOptions: { checks: { pluginTimings: false } } }, // the pages of the rules take long
  plugins: [contentSecurityPolicy, rulePages, serviceWorker],
});
