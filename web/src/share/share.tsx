import { DialogButton } from "../ui/dialog-button.tsx";

export function ShareButton() {
  return <DialogButton load={async () => (await import("./dialog.tsx")).ShareDialog}>Copy link</DialogButton>;
}
