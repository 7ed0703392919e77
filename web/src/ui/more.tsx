// A list that shows its first items, and more on request.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

const step = 100;

export function More<T>({ all, first, class: name, label, children }: { all: readonly T[]; first: number; class?: string; label?: string; children: (one: T) => ComponentChildren }) {
  const shown = useSignal(first);
  const rest = all.length - shown.value;
  return (
    <ul class={name} role="list" aria-label={label}>
      {all.slice(0, shown.value).map((one) => (
        <li>{children(one)}</li>
      ))}
      {rest > 0 && (
        <li>
          <button type="button" class="link" onClick={() => (shown.value += step)}>
            {rest <= step ? `${rest} more` : `${step} of ${rest.toLocaleString("en")} more`}
          </button>
        </li>
      )}
    </ul>
  );
}
