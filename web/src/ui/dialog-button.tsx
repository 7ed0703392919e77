// A button that opens a dialog. Its code is loaded on first use.
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";

export type Dialog = FunctionComponent<{ onClose(): void }>;

export function DialogButton({ load, children }: { load(): Promise<Dialog>; children: ComponentChildren }) {
  const shown = useSignal<{ Dialog: Dialog } | null>(null);
  const failed = useSignal(false);
  const open = () =>
    load().then(
      (Dialog) => {
        failed.value = false;
        shown.value = { Dialog };
      },
      () => (failed.value = true),
    );
  const Shown = shown.value?.Dialog;
  return (
    <>
      <button type="button" aria-haspopup="dialog" onClick={open}>
        {children}
      </button>
      {failed.value && <span role="alert">This part of the page could not be loaded. Try again.</span>}
      {Shown && <Shown onClose={() => (shown.value = null)} />}
    </>
  );
}
