// A project or an example behind the # of the address. It is taken out of the address at once: a reload is to keep what has been typed since, and
// an address that is copied from there should not hold what nobody sees in it. The browser's history keeps the link all the same.
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
