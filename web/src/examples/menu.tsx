import { DialogButton } from "../ui/dialog-button.tsx";

export function ExamplesMenu() {
  return <DialogButton load={async () => (await import("./dialog.tsx")).ExamplesDialog}>Examples</DialogButton>;
}
