// The texts in the editor. Each keeps its own history, selection and scroll position while another is shown.
import { isolateHistory } from "@codemirror/commands";
import { setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState, type StateEffect, type Text as Lines, type TransactionSpec } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import type { Finding, Fix, Location } from "../engine/shapes.ts";
import type { Findings } from "../project/lint.ts";
import { active, cursor, edit, find, same, type Place, type Side, type Text } from "../project/project.ts";
import { extensionOf, languageOf, type Language } from "./language.ts";
import { marksOf } from "./marks.ts";
import { changeTo, finder, format, lineEnd, parse, rangeOf } from "./positions.ts";
import { setup } from "./setup.ts";

interface Document {
  place: Place;
  text: string; // as in the project
  end: string; // of lines
  state: EditorState; // for the shown document, the view has a newer one
  language: Language;
  scroll?: StateEffect<unknown>;
  marked: Findings | null; // the findings that are marked
}

const language = new Compartment();
let documents: Document[] = []; // only of texts that were shown
let shown: Document | undefined;

const extensions = [
  setup,
  EditorView.contentAttributes.of(() => ({ "aria-label": `Text of ${shown?.place.name ?? ""}` })),
  EditorView.updateListener.of((update) => {
    if (update.docChanged && shown) publish(shown);
    if (update.docChanged || update.selectionSet) showCursor();
  }),
];

const nothing = EditorState.create({ extensions: [EditorState.readOnly.of(true), EditorView.editable.of(false)] });

/** The one editor of the page. */
export const view = new EditorView({ state: nothing });

const stateOf = (d: Document) => (d === shown ? view.state : d.state);

function documentOf(text: Text): Document {
  const known = documents.find((d) => same(d.place, text));
  if (known) return known;
  const doc = parse(text.text);
  const spoken = languageOf(text.name, doc);
  const made: Document = {
    place: { side: text.side, name: text.name },
    text: text.text,
    end: lineEnd(text.text),
    state: EditorState.create({ doc, extensions: [extensions, language.of(extensionOf(spoken))] }),
    language: spoken,
    marked: null,
  };
  documents.push(made);
  return made;
}

function dispatch(d: Document, change: TransactionSpec): void {
  if (d === shown) {
    view.dispatch(change);
  } else {
    d.state = d.state.update(change).state;
    publish(d);
  }
}

/** Passes the text of a document to the project. */
function publish(d: Document): void {
  const { doc } = stateOf(d);
  d.text = format(doc, d.end);
  chooseLanguage(d, doc);
  if (find(d.place)?.text !== d.text) edit(d.place, d.text);
}

function chooseLanguage(d: Document, doc: Lines): void {
  const spoken = languageOf(d.place.name, doc);
  if (spoken === d.language) return;
  d.language = spoken;
  dispatch(d, { effects: language.reconfigure(extensionOf(spoken)) });
}

function showCursor(): void {
  if (!shown) return;
  const { place } = shown;
  const line = view.state.doc.lineAt(view.state.selection.main.head).number;
  const last = cursor.peek();
  if (!last || last.line !== line || !same(last.place, place)) cursor.value = { place, line };
}

/** Applies changes of the project: texts that were edited, renamed or closed elsewhere. */
export function follow(texts: readonly Text[]): void {
  const open: Document[] = [];
  for (const d of documents) {
    const text = texts.find((t) => same(t, d.place)) ?? renamed(d, texts);
    if (!text) continue;
    open.push(d);
    if (!same(text, d.place)) rename(d, text);
    if (text.text !== d.text) replace(d, text.text);
  }
  documents = open;
}

/** A renamed document: same text, new name. */
const renamed = (d: Document, texts: readonly Text[]) => texts.find((t) => t.text === d.text && !documents.some((other) => same(other.place, t)));

function rename(d: Document, { side, name }: Place): void {
  d.place = { side, name };
  chooseLanguage(d, stateOf(d).doc);
  if (d === shown) view.dispatch({}); // for the accessible name
}

/** Replaces the text. It is shown from the start, and undo restores the old one. */
function replace(d: Document, text: string): void {
  d.text = text;
  d.end = lineEnd(text);
  d.scroll = undefined;
  dispatch(d, {
    changes: changeTo(stateOf(d).doc, parse(text)),
    selection: { anchor: 0 },
    effects: EditorView.scrollIntoView(0),
    annotations: isolateHistory.of("full"),
  });
}

export function show(text: Text | undefined): void {
  if (text ? shown && same(shown.place, text) : !shown) return;
  if (shown) {
    shown.state = view.state;
    shown.scroll = view.scrollSnapshot();
  }
  shown = text && documentOf(text);
  view.setState(shown?.state ?? nothing);
  if (shown?.scroll) view.dispatch({ effects: shown.scroll });
  showCursor();
}

/**
 * Marks the findings in the shown text if they are about its current content. Otherwise the old marks move with the text. Without an answer of the
 * engine, the marks are removed.
 */
export function mark(findings: Record<Side, Findings | null>): void {
  const d = shown;
  if (!d) return;
  const found = findings[d.place.side];
  if (found === d.marked || (found && found.texts[d.place.name] !== d.text)) return;
  d.marked = found;
  const marks = found ? marksOf(view.state.doc, found, d.place, (finding, fix) => applyFix(d.place.side, found, finding, fix)) : [];
  view.dispatch(setDiagnostics(view.state, marks));
}

/** Scrolls to a location in the shown text and selects it. */
export function jump(side: Side, location: Location): void {
  if (!shown || !same(shown.place, { side, name: location.file })) return;
  const { from, to } = rangeOf(view.state.doc, finder(view.state.doc), location);
  view.dispatch({ selection: { anchor: from, head: to }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
  focus();
}

/** Not on touch screens, where the keyboard would cover the text. */
function focus(): void {
  if (!matchMedia("(pointer: coarse)").matches) view.focus();
}

/** Applies one fix and shows it, unless the text has changed since the finding. */
export function applyFix(side: Side, found: Findings, { location }: Finding, fix: Fix): void {
  const text = find({ side, name: location.file });
  if (!text || found.texts[text.name] !== text.text) return;
  active.value = { side, name: text.name };
  const d = documentOf(text);
  const state = stateOf(d);
  const at = finder(state.doc);
  const changes = state.changes(fix.edits.map((e) => ({ from: at(e.start), to: at(e.end), insert: state.toText(e.new) })));
  const anchor = Math.min(...fix.edits.map((e) => at(e.start)));
  dispatch(d, { changes, selection: { anchor }, scrollIntoView: true, annotations: isolateHistory.of("full") });
  focus();
}

/** Replaces a text with its fixed version, in one undo step. The cursor stays in its line. */
export function rewrite(text: Text, fixed: string): void {
  const d = documentOf(text);
  const { doc, selection } = stateOf(d);
  const next = parse(fixed, d.end); // lines that a fix adds may end differently
  const was = doc.lineAt(selection.main.head);
  const is = next.line(Math.min(was.number, next.lines));
  const anchor = Math.min(is.from + selection.main.head - was.from, is.to);
  dispatch(d, { changes: changeTo(doc, next), selection: { anchor }, annotations: isolateHistory.of("full") });
}
