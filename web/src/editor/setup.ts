// The extensions of every text in the editor: keys, history, gutters and theme.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, codeFolding, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { linter, lintGutter } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import {
  closeHoverTooltips,
  drawSelection,
  dropCursor,
  EditorView,
  hasHoverTooltips,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  rectangularSelection,
  type Command,
} from "@codemirror/view";
import { showList } from "../problems/focus.ts";
import { fixMenu, openFixMenu } from "./fix-menu.tsx";
import { nextProblem, previousProblem } from "./navigation.ts";
import { theme } from "./theme.ts";

/** The element that describes the keys to screen readers. */
export const hintId = "editor-keys";

const closeHover: Command = (view) => {
  if (!hasHoverTooltips(view.state)) return false;
  view.dispatch({ effects: closeHoverTooltips });
  return true;
};

const keys = [
  { key: "Escape", run: closeHover },
  { key: "F8", run: nextProblem, shift: previousProblem },
  { key: "Mod-.", run: openFixMenu },
  { key: "Mod-Shift-m", run: showList, preventDefault: true },
];

export const setup: Extension = [
  lineNumbers(),
  lintGutter(),
  foldGutter(),
  codeFolding({ placeholderText: "…" }),
  highlightSpecialChars(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  highlightSelectionMatches(),
  history(),
  drawSelection(),
  dropCursor(),
  rectangularSelection(),
  EditorState.allowMultipleSelections.of(true),
  EditorState.tabSize.of(2),
  indentUnit.of("  "),
  indentOnInput(),
  bracketMatching(),
  search({ top: true }),
  linter(null),
  fixMenu,
  theme,
  keymap.of([...keys, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...defaultKeymap, indentWithTab]),
  EditorView.contentAttributes.of({ "aria-describedby": hintId, tabindex: "0" }),
];
