// A menu at the cursor with the fixes of its line. Fixes for the finding under the cursor come first.
import { StateEffect, StateField } from "@codemirror/state";
import { closeHoverTooltips, EditorView, showTooltip, type Command, type Tooltip } from "@codemirror/view";
import { render } from "preact";
import { FixLabel } from "../problems/parts.tsx";
import type { Mark } from "./marks.ts";
import { marksAt } from "./navigation.ts";

const setMenu = StateEffect.define<Tooltip | null>();

/** The open menu, if any. It closes when the text or the cursor changes. */
export const fixMenu = StateField.define<Tooltip | null>({
  create: () => null,
  update(menu, transaction) {
    const set = transaction.effects.find((effect) => effect.is(setMenu));
    if (set) return set.value;
    return transaction.docChanged || transaction.selection ? null : menu;
  },
  provide: (field) => showTooltip.from(field),
});

export const openFixMenu: Command = (view) => {
  const { from, to } = view.state.selection.main;
  const { doc } = view.state;
  const here = marksAt(view.state, from, to);
  const inLine = marksAt(view.state, doc.lineAt(from).from, doc.lineAt(to).to);
  const marks = [...new Set([...here, ...inLine])].filter(({ finding }) => finding.fixes.length > 0);
  view.dispatch({
    effects: marks.length > 0 ? [closeHoverTooltips, setMenu.of({ pos: from, create: (v) => show(v, marks) })] : EditorView.announce.of("There is no quick fix in this line."),
  });
  return true;
};

function show(view: EditorView, marks: readonly Mark[]) {
  const dom = document.createElement("div");
  const left = () => {
    if (view.state.field(fixMenu)) view.dispatch({ effects: setMenu.of(null) });
  };
  render(<Menu marks={marks} close={() => view.focus()} left={left} />, dom);
  return { dom, mount: () => dom.querySelector("button")?.focus(), destroy: () => render(null, dom) };
}

/** It closes when the focus leaves it. */
function Menu({ marks, close, left }: { marks: readonly Mark[]; close: () => void; left: () => void }) {
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (event.key === "ArrowDown") move(event.currentTarget, 1);
    else if (event.key === "ArrowUp") move(event.currentTarget, -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onFocusOut = (event: FocusEvent & { currentTarget: HTMLElement }) => {
    if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget))) left();
  };
  return (
    <div class="fix-menu" role="menu" aria-label="Quick fixes" tabIndex={-1} onKeyDown={onKeyDown} onFocusOut={onFocusOut}>
      {marks.flatMap((mark) =>
        mark.finding.fixes.map((fix) => (
          <button
            type="button"
            role="menuitem"
            class="quiet"
            tabIndex={-1}
            onClick={() => {
              close();
              mark.apply(fix);
            }}
          >
            <FixLabel fix={fix} />
            <span class="for muted">{mark.finding.message}</span>
          </button>
        )),
      )}
    </div>
  );
}

function move(menu: HTMLElement, by: number): void {
  const items = [...menu.querySelectorAll("button")];
  const at = items.findIndex((item) => item === document.activeElement);
  items[(at + by + items.length) % items.length]?.focus();
}
