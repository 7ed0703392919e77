// The page of a house rule. The built-in ones have pages of their own, which are there before anybody asks.
import { Modal } from "../ui/modal.tsx";
import { lazy } from "../ui/lazy.tsx";
import { looked } from "./rules.ts";
import "./house.css";

const Page = lazy("The page of the rule", async () => (await import("./page.tsx")).Page);

export function RuleDialog() {
  const shown = looked.value;
  return shown ? (
    <Modal title={shown.rule} class="house-rule" onClose={() => (looked.value = null)}>
      <Page />
    </Modal>
  ) : null;
}
