// Markdown → HTML for the pages of the rules.
import { Marked } from "marked";

export const escape = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const slug = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

export interface Options {
  /** The target of a link; empty to drop the link. */
  address(href: string): string;
  /** HTML to insert below a heading. */
  below?(heading: string): string;
}

export function htmlOf(markdown: string, { address, below = () => "" }: Options): string {
  const marked = new Marked({
    renderer: {
      // HTML is shown as text. Comments are dropped.
      html: ({ text }) => (text.trimStart().startsWith("<!--") ? "" : escape(text)),
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${slug(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n${below(text)}`;
      },
      // A wide block scrolls, so it must be reachable by keyboard.
      code: ({ text, lang }) => `<pre tabindex="0"${lang ? ` class="${escape(lang)}"` : ""}><code>${escape(text)}</code></pre>\n`,
      link({ href, tokens }) {
        const [to, text] = [address(href), this.parser.parseInline(tokens)];
        return to ? `<a href="${escape(to)}">${text}</a>` : text;
      },
      image: ({ text }) => escape(text),
    },
  });
  return marked.parse(markdown, { async: false });
}
