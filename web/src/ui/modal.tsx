// A modal dialog: Escape and a click outside close it. It traps the focus and returns it.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  class?: string;
  onClose(): void;
  children: ComponentChildren;
}

export function Modal({ title, class: name, onClose, children }: Props) {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => dialog?.close(); // returns the focus when the dialog is unmounted
  }, []);
  return (
    <dialog ref={box} class={name} aria-labelledby="modal-title" onClose={onClose} onClick={(e) => e.target === e.currentTarget && e.currentTarget.close()}>
      <div class="modal">
        <h2 id="modal-title">{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
