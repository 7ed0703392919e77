// The field over a tab in which its text is renamed.
import { useLayoutEffect, useRef } from "preact/hooks";
import { rename, type Place } from "../project/project.ts";
import { renaming } from "./actions.ts";
import { wrongName } from "./names.ts";

export function RenameField({ place }: { place: Place }) {
  const field = useRef<HTMLInputElement>(null);
  const ended = useRef(false);

  useLayoutEffect(() => {
    const input = field.current;
    const box = input?.closest<HTMLElement>(".texts");
    const tab = box?.querySelector<HTMLElement>("[role=tab][aria-selected=true]");
    if (!input || !box || !tab) return;
    input.style.left = `${tab.getBoundingClientRect().left - box.getBoundingClientRect().left + box.scrollLeft}px`;
    input.focus();
    const dot = place.name.lastIndexOf(".");
    input.setSelectionRange(place.name.lastIndexOf("/") + 1, dot > 0 ? dot : place.name.length);
  }, []);

  /** Ends renaming with a new or the old name. An invalid name is reported, and the field stays. */
  const end = (name: string) => {
    const input = field.current;
    if (!input || ended.current) return;
    const wrong = wrongName(place.side, name, place.name);
    input.setCustomValidity(wrong);
    if (!input.reportValidity()) return;
    ended.current = true;
    const tabs = input.closest(".texts");
    if (name !== place.name) rename(place, name);
    renaming.value = null;
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) tabs?.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus();
    });
  };
  return (
    <input
      ref={field}
      class="rename"
      type="text"
      maxLength={200}
      defaultValue={place.name}
      aria-label={`Name of ${place.name}`}
      spellcheck={false}
      autocomplete="off"
      onInput={(event) => event.currentTarget.setCustomValidity("")}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") end(event.currentTarget.value.trim());
        if (event.key === "Escape") end(place.name);
      }}
      onBlur={(event) => end(wrongName(place.side, event.currentTarget.value.trim(), place.name) ? place.name : event.currentTarget.value.trim())}
    />
  );
}
