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
  // The text is anybody's: what is HTML or a script in it stays text (see htmlOf).
  return <div class="page" tabIndex={0} onClick={beside} dangerouslySetInnerHTML={{ __html: html.value }} />;
}

/** A house rule has no place on the web from which a relative link could lead on. */
const address = (href: string) => (/^https?:\/\//i.test(href) ? href : "");

/** Links open beside the playground, so that nobody loses what they typed. */
function beside(event: MouseEvent): void {
  const link = (event.target as Element).closest("a");
  if (!link) return;
  event.preventDefault();
  open(link.href, "_blank", "noreferrer");
}
