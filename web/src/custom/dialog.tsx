// The page of a house rule. The built-in ones have pages of their own, which are there before anybody asks.
import { Modal } from "../ui/modal.tsx";
import { lazy } from "../ui/lazy.tsx";
import { shownRule } from "./rules.ts";
import "./custom.css";

const Page = lazy("The page of the rule", async () => (await import("./page.tsx")).Page);

export function RuleDialog() {
  const shown = shownRule.value;
  return shown ? (
    <Modal title={shown.rule} class="custom-rule" onClose={() => (shownRule.value = null)}>
      <Page />
    </Modal>
  ) : null;
}
