// Opens a project or an example from the fragment of the URL, and then removes it from there: a reload before keeps the link, a reload
// after keeps later edits, and a copied URL contains no invisible content. The browser's history still has the link.
import { showError } from "./origin.ts";

export const hasLink = () => /^#(p|example)=/.test(location.hash);

export function followLinks(): void {
  follow();
  addEventListener("hashchange", follow);
}

function follow(): void {
  if (!hasLink()) return;
  const { hash } = location;
  import("./openLink.ts")
    .then(
      ({ openLink }) => openLink(hash),
      () => showError("The part of the page that opens links could not be loaded. Follow the link again."),
    )
    .finally(() => forget(hash));
}

/** Removes a fragment, unless another link was followed since. */
function forget(hash: string): void {
  if (location.hash === hash) history.replaceState(null, "", location.pathname + location.search);
}
