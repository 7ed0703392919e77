// A button with a menu below it. Arrow keys move, Escape and a click outside close it.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import "./menu.css";

export interface Item {
  label: string;
  keys?: string; // the shortcut, for display
  choose(): void;
}

export function Menu({ label, items }: { label: string; items: readonly Item[] }) {
  const open = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const buttons = () => [...(box.current?.querySelectorAll("button") ?? [])];

  const close = () => {
    open.value = false;
    buttons()[0]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open.value && event.key !== "ArrowDown") return;
    if (event.key === "Tab") {
      open.value = false;
      return;
    }
    const [, ...entries] = buttons();
    const at = entries.indexOf(event.target as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: (at < 0 ? 0 : at) - 1 + entries.length, Home: 0, End: entries.length - 1 }[event.key];
    if (to === undefined && event.key !== "Escape") return;
    event.preventDefault();
    if (to === undefined) close();
    else if (open.value) entries[to % entries.length]?.focus();
    else open.value = true;
  };

  useEffect(() => {
    if (!open.value) return;
    buttons()[1]?.focus();
    const beside = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) open.value = false;
    };
    document.addEventListener("pointerdown", beside);
    return () => document.removeEventListener("pointerdown", beside);
  }, [open.value]);

  return (
    <div class="menu" ref={box} onKeyDown={onKeyDown}>
      <button type="button" aria-haspopup="menu" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        {label} <span aria-hidden="true">▾</span>
      </button>
      {open.value && (
        <div role="menu" aria-label={label}>
          {items.map((item) => (
            <button
              type="button"
              role="menuitem"
              class="quiet"
              tabIndex={-1}
              key={item.label}
              onClick={() => {
                close();
                item.choose();
              }}
            >
              <span>{item.label}</span>
              {item.keys && <kbd>{item.keys}</kbd>}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
