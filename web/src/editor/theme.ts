// The editor's theme. It uses the colours of the page, also in dark mode.
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const wavy = (colour: string) => ({
  backgroundImage: "none",
  textDecoration: `underline wavy ${colour} 1px`,
  textDecorationSkipInk: "none",
  textUnderlineOffset: "3px",
});

const panelControl = { fontSize: "var(--small)", background: "var(--raised)", border: "1px solid var(--line-strong)", borderRadius: "var(--radius)", color: "inherit", margin: "2px" };

const look = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--bg)", color: "var(--fg)", fontSize: "var(--code)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--fg)", padding: "var(--space-1) 0" },
  ".cm-cursor": { borderLeftColor: "var(--fg)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--bg)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 5%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--fg)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--marked)" },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--accent) 14%, transparent)" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--warning) 25%, transparent)" },
  ".cm-searchMatch-selected": { backgroundColor: "color-mix(in srgb, var(--warning) 50%, transparent)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "color-mix(in srgb, var(--ok) 25%, transparent)", color: "inherit" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "color-mix(in srgb, var(--error) 25%, transparent)", color: "inherit" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--surface)", borderColor: "var(--line)", color: "var(--muted)" },
  ".cm-specialChar": { color: "var(--error)" },
  ".cm-panels": { backgroundColor: "var(--surface)", color: "var(--fg)", borderColor: "var(--line)" },
  ".cm-panel.cm-search": { font: "var(--small) var(--sans)", padding: "var(--space-1) var(--space-2)" },
  ".cm-panel.cm-search label": { fontSize: "var(--small)" },
  ".cm-panel.cm-search .cm-button": { ...panelControl, backgroundImage: "none" },
  ".cm-panel.cm-search .cm-textfield": { ...panelControl, fontSize: "var(--code)" },
  ".cm-panel.cm-search [name=close]": { color: "var(--fg)", minHeight: "0" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--fg)", border: "1px solid var(--line)", borderRadius: "var(--radius)", boxShadow: "var(--shadow)" },
  ".cm-lintRange-error": wavy("var(--error)"),
  ".cm-lintRange-warning": wavy("var(--warning)"),
  ".cm-lintRange-info": wavy("var(--info)"),
  ".cm-lintPoint-error:after": { borderBottomColor: "var(--error)" },
  ".cm-lintPoint-warning:after": { borderBottomColor: "var(--warning)" },
  ".cm-lintPoint-info:after": { borderBottomColor: "var(--info)" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0 3px", display: "flex", alignItems: "center" },
  ".cm-lint-marker": { content: "none", width: "10px", height: "10px", forcedColorAdjust: "none" },
  ".cm-lint-marker-error": { content: "none", backgroundColor: "var(--error)", borderRadius: "50%" },
  ".cm-lint-marker-warning": { content: "none", backgroundColor: "var(--warning)", clipPath: "polygon(50% 0, 100% 100%, 0 100%)" },
  ".cm-lint-marker-info": { content: "none", backgroundColor: "var(--info)" },
  ".cm-diagnostic": { padding: "0", margin: "0", border: "none", whiteSpace: "normal" },
  ".cm-diagnosticText": { display: "block" },
  "@media (max-width: 759px)": { ".cm-foldGutter": { display: "none" } },
});

const words = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--code-key)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--code-value)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.labelName, tags.attributeValue], color: "var(--code-name)" },
  { tag: [tags.meta, tags.punctuation, tags.separator, tags.bracket], color: "var(--muted)" },
]);

export const theme = [look, syntaxHighlighting(words)];
