// A tab for each text, with separate groups for the two sides of a comparison.
import { computed } from "@preact/signals";
import type { Severity } from "../engine/shapes.ts";
import { findings } from "../project/lint.ts";
import { active, close, comparing, same, texts, type Place, type Side, type Text } from "../project/project.ts";
import { moveInTabs } from "../ui/tablist.ts";
import { newText, renaming, startRenaming } from "./actions.ts";
import { RenameField } from "./rename.tsx";
import "./tabs.css";

export function Tabs() {
  return (
    <div class="texts">
      {comparing.value && <Group side="before" title="Before" />}
      <Group side="after" title={comparing.value ? "After" : ""} />
      <button type="button" class="quiet add" aria-label="New text" title="New text" onClick={newText}>
        +
      </button>
      {renaming.value && <RenameField key={`${renaming.value.side}/${renaming.value.name}`} place={renaming.value} />}
    </div>
  );
}

function Group({ side, title }: { side: Side; title: string }) {
  const own = texts.value.filter((t) => t.side === side);
  const reachable = own.find((t) => same(t, active.value)) ?? own[0];
  return (
    <>
      {title !== "" && (
        <span class="side" aria-hidden="true">
          {title}
        </span>
      )}
      {own.length > 0 && (
        <div role="tablist" aria-label={title === "" ? "Texts" : `Texts ${title.toLowerCase()}`} onKeyDown={onKeyDown}>
          {own.map((text) => (
            <Tab key={text.name} text={text} reachable={text === reachable} />
          ))}
        </div>
      )}
    </>
  );
}

/** The findings of each text, by its side and name. */
const counts = computed(() => {
  const all = new Map<string, Record<Severity, number>>();
  for (const side of ["before", "after"] as const) {
    for (const { severity, location } of findings.value[side]?.diagnostics ?? []) {
      const key = `${side}/${location.file}`;
      const count = all.get(key) ?? { error: 0, warning: 0, info: 0 };
      count[severity]++;
      all.set(key, count);
    }
  }
  return all;
});

function Tab({ text, reachable }: { text: Text; reachable: boolean }) {
  const place: Place = { side: text.side, name: text.name };
  const selected = same(place, active.value);
  return (
    <div
      role="tab"
      class="text-tab"
      aria-selected={selected}
      aria-controls="editor"
      aria-keyshortcuts="F2 Delete"
      tabIndex={reachable ? 0 : -1}
      title={text.name}
      ref={(tab) => {
        if (selected) tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
      }}
      onClick={() => (active.value = place)}
      onDblClick={() => startRenaming(place)}
      onAuxClick={(event) => event.button === 1 && close(place)}
    >
      <span class="name">{text.name}</span>
      <Count place={place} />
      <span
        class="close"
        aria-hidden="true"
        title="Close"
        onClick={(event) => {
          event.stopPropagation();
          close(place);
        }}
      >
        ×
      </span>
    </div>
  );
}

function Count({ place }: { place: Place }) {
  const count = counts.value.get(`${place.side}/${place.name}`);
  const severity = count && (["error", "warning"] as const).find((s) => count[s] > 0);
  if (!count || !severity) return null;
  return (
    <span class={`count ${severity}`}>
      {count[severity]}
      <span class="hidden-text"> {severity}s</span>
    </span>
  );
}

function onKeyDown(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  if (event.key === "F2") {
    event.preventDefault();
    startRenaming(active.peek());
  } else if (event.key === "Delete") {
    event.preventDefault();
    close(active.peek());
    requestAnimationFrame(() => list.querySelector<HTMLElement>("[aria-selected=true]")?.focus());
  } else {
    moveInTabs(event);
  }
}
