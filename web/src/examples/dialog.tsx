// The dialog behind "Examples": a list that is searched by typing, and chosen from with the arrow keys.
import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { loadAbout } from "../engine/about.ts";
import { openLink } from "../share/openLink.ts";
import { Modal } from "../ui/modal.tsx";
import { configurations } from "./configurations.ts";
import { groupsOf, matching, type Group } from "./list.ts";
import "./examples.css";

const wholes: Group = { name: "Whole configurations", entries: configurations };

export function ExamplesDialog({ onClose }: { onClose(): void }) {
  const groups = useSignal<Group[]>([wholes]);
  const note = useSignal("Loading the examples of the rules…");
  const words = useSignal("");
  const found = useComputed(() => matching(groups.value, words.value));
  const entries = useComputed(() => found.value.flatMap((g) => g.entries));
  const at = useSignal(0);
  useEffect(() => {
    loadAbout().then(
      ({ rules }) => {
        groups.value = [wholes, ...groupsOf(rules)];
        note.value = "";
      },
      (error: Error) => (note.value = `The examples of the rules could not be listed: ${error.message}`),
    );
  }, []);
  const choose = async (name: string | undefined) => {
    if (!name) return;
    onClose();
    await openLink(`#example=${name}`);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const count = entries.value.length;
    const to = { ArrowDown: at.value + 1, ArrowUp: at.value - 1 + count, PageDown: Math.min(at.value + 10, count - 1), PageUp: Math.max(at.value - 10, 0) }[event.key];
    if (event.key === "Enter") {
      event.preventDefault(); // or it would press the button that regains the focus
      void choose(entries.value[at.value]?.name);
    } else if (to !== undefined && count > 0) {
      event.preventDefault();
      at.value = to % count;
    }
  };
  const onInput = (event: InputEvent & { currentTarget: HTMLInputElement }) => {
    words.value = event.currentTarget.value;
    at.value = 0;
  };
  const current = entries.value[at.value]?.name;
  return (
    <Modal title="Examples" class="examples" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Search the examples"
        aria-expanded="true"
        aria-controls="examples"
        aria-activedescendant={current && idOf(current)}
        aria-autocomplete="list"
        autocomplete="off"
        spellcheck={false}
        placeholder="A rule, a field, a word …"
        onInput={onInput}
        onKeyDown={onKeyDown}
      />
      <List groups={found.value} current={current} choose={choose} />
      <p class="muted" role="status">
        {note.value || summaryOf(entries.value.length)}
      </p>
    </Modal>
  );
}

function List({ groups, current, choose }: { groups: readonly Group[]; current: string | undefined; choose(name: string): void }) {
  return (
    <div id="examples" role="listbox" aria-label="Examples" tabIndex={-1}>
      {groups.map((group) => (
        <div role="group" aria-label={group.name} key={group.name}>
          <div class="group" role="presentation">
            {group.name}
          </div>
          {group.entries.map((entry) => (
            <div role="option" id={idOf(entry.name)} key={entry.name} aria-selected={entry.name === current} ref={entry.name === current ? intoView : null} onClick={() => choose(entry.name)}>
              <span class="title">{entry.title}</span> <span class="muted">{entry.summary}</span>
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}

function summaryOf(count: number): string {
  if (count === 0) return "No example contains these words.";
  return `${count} ${count === 1 ? "example" : "examples"}. Choose with the arrow keys, open with Enter.`;
}

const idOf = (name: string) => `example-${name}`;

const intoView = (element: HTMLElement | null) => element?.scrollIntoView({ block: "nearest" });
