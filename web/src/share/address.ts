// A project or an example behind the # of the address. It is taken out of the address at once: a reload is to keep what has been typed since, and
// an address that is copied from there should not hold what nobody sees in it. The browser's history keeps the link all the same.
import { fail } from "./origin.ts";

export const addressed = () => /^#(p|example)=/.test(location.hash);

export function followAddress(): void {
  follow();
  addEventListener("hashchange", follow);
}

function follow(): void {
  if (!addressed()) return;
  const { hash, pathname, search } = location;
  history.replaceState(null, "", pathname + search);
  import("./arrival.ts").then(
    ({ arrive }) => arrive(hash),
    () => fail("The part of the page that opens links could not be loaded. Follow the link again."),
  );
}
