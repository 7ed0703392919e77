// A dialog over the page: Escape and a click beside it close it, the focus stays in it and goes back to where it was.
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
    return () => dialog?.close(); // gives the focus back, where the page takes the dialog away
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
