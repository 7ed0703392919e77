// The page of a custom rule, in a dialog. Built-in rules have static pages.
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
