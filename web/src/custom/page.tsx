import { useSignal, useSignalEffect } from "@preact/signals";
import { htmlOf } from "../../rules/markdown.ts";
import { engine } from "../engine/engine.ts";
import { shownRule } from "./rules.ts";

export function Page() {
  const html = useSignal("");
  const failed = useSignal("");
  useSignalEffect(() => {
    if (!shownRule.value) return;
    engine.ask("explain", shownRule.value).then(
      ({ page }) => (html.value = htmlOf(page.replace(/^# .*\n/, ""), { address })), // the dialog has the title
      (error: Error) => (failed.value = error.message),
    );
  });
  if (failed.value) return <p role="alert">The engine could not explain this rule: {failed.value}</p>;
  // The text is untrusted: htmlOf escapes HTML in it.
  return <div class="page" tabIndex={0} onClick={beside} dangerouslySetInnerHTML={{ __html: html.value }} />;
}

/** A custom rule has no address that a relative link could be relative to. */
const address = (href: string) => (/^https?:\/\//i.test(href) ? href : "");

/** Links open in a new tab, so that no text is lost. */
function beside(event: MouseEvent): void {
  const link = (event.target as Element).closest("a");
  if (!link) return;
  event.preventDefault();
  open(link.href, "_blank", "noreferrer");
}
