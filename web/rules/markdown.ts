// Markdown → HTML for the pages of the rules.
import { Marked } from "marked";

export const escape = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const slug = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

export interface Options {
  /** Where a link of the text leads; empty: it is none. */
  address(href: string): string;
  /** What stands below a heading, as HTML. */
  below?(heading: string): string;
}

export function htmlOf(markdown: string, { address, below = () => "" }: Options): string {
  const marked = new Marked({
    renderer: {
      // HTML in the text stays text; comments are for those who read the Markdown itself.
      html: ({ text }) => (text.trimStart().startsWith("<!--") ? "" : escape(text)),
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${slug(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n${below(text)}`;
      },
      // A wide block scrolls, so the keyboard has to get there.
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
