// Editor panes: CodeMirror in a shadow root. There it adds style sheets without <style>, which the page's policy forbids.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, setDiagnostics, lintGutter } from "@codemirror/lint";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration, type DecorationSet, EditorView, highlightActiveLine, keymap, lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

export type Mark = { line: number; column: number | null; endColumn?: number; severity: "error" | "warning" | "info"; message: string };
export type Options = { text: string; label: string; readOnly?: boolean; onChange?: (text: string) => void };

const highlight = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--code-key)" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--code-value)" },
  { tag: tags.comment, color: "var(--muted)" },
]);

const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", color: "var(--text)", background: "var(--surface)" },
  // An outline would be behind the gutters.
  "&.cm-focused": { outline: "none" },
  "&.cm-focused::after": {
    content: '""', position: "absolute", inset: "0", border: "2px solid var(--accent)", pointerEvents: "none", zIndex: "300",
  },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-gutters": { background: "var(--surface)", color: "var(--muted)", border: "none", paddingInline: "4px" },
  ".cm-activeLine": { background: "var(--hover)" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-field": { background: "var(--mark)" },
  ".cm-tooltip": { background: "var(--raised)", color: "var(--text)", border: "1px solid var(--line)" },
});

/** Browsers keep the style of a selection that typing replaces, with an inline style, which the page's policy forbids. */
const replace = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || event.data === null || view.composing || view.state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

const setField = StateEffect.define<[number, number] | null>();
const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, transaction) {
    let marks = value.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(setField)) {
        const range = effect.value;
        marks = range && range[1] > range[0]
          ? Decoration.set([Decoration.mark({ class: "cm-field" }).range(range[0], range[1])])
          : Decoration.none;
      }
    }
    return marks;
  },
  provide: (of) => EditorView.decorations.from(of),
});

export function create(parent: HTMLElement, options: Options) {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
  root.replaceChildren();
  const own = document.createElement("div");
  own.style.height = "100%";
  root.append(own);
  const view = new EditorView({
    root,
    parent: own,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(), highlightActiveLine(), history(), yaml(), syntaxHighlighting(highlight), theme, field, lintGutter(), replace,
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorState.readOnly.of(options.readOnly ?? false),
        EditorView.contentAttributes.of({ "aria-label": options.label, tabindex: "0" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onChange?.(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    set(text: string) {
      if (text !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    mark(marks: Mark[]) {
      const { doc } = view.state;
      const found = marks.filter((mark) => mark.line >= 1 && mark.line <= doc.lines).map((mark): Diagnostic => {
        const line = doc.line(mark.line);
        const from = Math.min(line.from + Math.max(0, (mark.column ?? 1) - 1), line.to);
        const to = mark.endColumn ? Math.min(line.from + mark.endColumn - 1, line.to) : line.to;
        return { from, to: Math.max(from, to), severity: mark.severity, message: mark.message };
      });
      view.dispatch(setDiagnostics(view.state, found));
    },
    show(range: [number, number] | null) {
      const fits = range && range[1] <= view.state.doc.length ? range : null;
      const scroll = fits ? [EditorView.scrollIntoView(fits[0], { y: "center" })] : [];
      view.dispatch({ effects: [setField.of(fits), ...scroll] });
    },
    go(line: number) {
      const at = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines)).from;
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}
export type Editor = ReturnType<typeof create>;
