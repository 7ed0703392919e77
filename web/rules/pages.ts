// The static pages of the rules: one for each, and an index.
import type { Ask } from "./engine.ts";
import type { Rule, RuleSummary } from "../src/engine/shapes.ts";
import { escape, htmlOf } from "./markdown.ts";

const repository = "https://github.com/xdslint/xdslint/blob/main/";

/** HTML by path, relative to the folder of the pages. */
export function pagesOf(ask: Ask, stylesheet: string): Map<string, string> {
  const { rules } = ask("about", {});
  const known = new Set(rules.map((r) => r.id));
  const pages = new Map([["index.html", indexPage(rules, stylesheet)]]);
  for (const { id } of rules) pages.set(`${id}.html`, rulePage(ask("explain", { rule: id, files: {} }), known, stylesheet));
  return pages;
}

const groupOf = (rule: RuleSummary) => rule.id.split("/")[0] ?? "";

function rulePage(rule: Rule, known: Set<string>, stylesheet: string): string {
  const text = htmlOf(rule.page, {
    address: (href) => addressOf(href, rule.id, known),
    below: (heading) => (heading === "Example" && rule.bad ? playgroundLink(rule) : ""),
  });
  const group = groupOf(rule);
  return page({
    title: `${rule.id} · xdslint`,
    description: rule.summary,
    up: "../../",
    stylesheet,
    trail: [`<a href="../index.html">Rules</a>`, `<a href="../index.html#${escape(group)}">${escape(group)}</a>`],
    body: text,
  });
}

const playgroundLink = (rule: Rule) =>
  `<p><a class="button" href="../../index.html#example=${escape(rule.id)}">Open this example in the playground</a></p>\n`;

/** Links to other rules stay on this site. Other relative links lead to the repository. */
function addressOf(href: string, id: string, known: Set<string>): string {
  const docs = new URL(`docs/rules/${id}.md`, repository);
  const url = new URL(href, docs);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new Error(`${id} links to ${href}`);
  if (url.pathname === docs.pathname && url.hash) return url.hash;
  const other = url.href.slice(new URL("docs/rules/", repository).href.length).replace(/\.md(#|$)/, "$1");
  return known.has(other) ? `../${other}.html` : url.href;
}

function indexPage(rules: RuleSummary[], stylesheet: string): string {
  const groups = Map.groupBy(rules, groupOf);
  const contents = [...groups].map(([group, all]) => `<li><a href="#${escape(group)}">${escape(group)}</a> (${all.length})</li>`);
  return page({
    title: "Rules · xdslint",
    description: `All ${rules.length} rules of xdslint, and what each finds.`,
    up: "../",
    stylesheet,
    trail: [],
    body: `<h1>Rules</h1>
<p>xdslint checks configurations with these ${rules.length} rules. Each page says why the rule exists and has an example, most of which open in the playground.</p>
<nav aria-label="Groups"><ul class="groups">${contents.join("")}</ul></nav>
${[...groups].map(([group, all]) => groupTable(group, all)).join("\n")}`,
  });
}

const groupTable = (group: string, rules: RuleSummary[]) => `<h2 id="${escape(group)}">${escape(group)}</h2>
<table>
<thead><tr><th scope="col">Rule</th><th scope="col">Severity</th><th scope="col">Finds</th></tr></thead>
<tbody>
${rules.map((r) => `<tr><td><a href="${escape(r.id)}.html">${escape(r.id)}</a></td><td class="${r.severity}">${r.severity}</td><td>${escape(r.summary)}</td></tr>`).join("\n")}
</tbody>
</table>`;

interface Page {
  title: string;
  description: string;
  up: string; // the relative path of the playground
  stylesheet: string;
  trail: string[]; // breadcrumbs, as HTML
  body: string;
}

const page = ({ title, description, up, stylesheet, trail, body }: Page) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'">
<meta name="description" content="${escape(description)}">
<title>${escape(title)}</title>
<link rel="icon" href="${up}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${up}${stylesheet}">
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header><nav aria-label="Breadcrumb"><ol>${[`<a href="${up}index.html">xdslint playground</a>`, ...trail].map((step) => `<li>${step}</li>`).join("")}</ol></nav></header>
<main id="text">
${body}
</main>
</body>
</html>
`;
