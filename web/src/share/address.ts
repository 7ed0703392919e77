// Opens a project or an example from the fragment of the URL and removes it from there at once: a reload keeps later edits, and
// a copied URL contains no invisible content. The browser's history still has the link.
import { showError } from "./origin.ts";

export const hasLink = () => /^#(p|example)=/.test(location.hash);

export function followLinks(): void {
  follow();
  addEventListener("hashchange", follow);
}

function follow(): void {
  if (!hasLink()) return;
  const { hash, pathname, search } = location;
  history.replaceState(null, "", pathname + search);
  import("./openLink.ts").then(
    ({ openLink }) => openLink(hash),
    () => showError("The part of the page that opens links could not be loaded. Follow the link again."),
  );
}
