import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { PostgreSQL, sql } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** Loaded when the SQL page is opened: this is more than the rest of the console. */
export interface SqlEditor {
  text(): string;
  /** What is marked; the whole text if nothing is. */
  chosenText(): { readonly sql: string; readonly offset: number };
  setText(text: string): void;
  /** Underlines from an offset on; undefined takes the underline away. */
  setError(error: { readonly from: number; readonly message: string } | undefined): void;
  setSchema(schema: Readonly<Record<string, readonly string[]>>): void;
  focus(): void;
  destroy(): void;
}

export interface SqlEditorOptions {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

const colors = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--series-2)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--series-3)' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: 'var(--series-4)' },
  { tag: tags.comment, color: 'var(--text-muted)', fontStyle: 'italic' },
]);

const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--surface-sunken)', color: 'var(--text-muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--surface-hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'light-dark(#b8e4de, #1d5650)',
  },
  '.cm-matchingBracket': {
    backgroundColor: 'var(--surface-active)',
    outline: '1px solid var(--line-strong)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface-raised)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent-fill)',
    color: 'var(--on-accent)',
  },
  '.cm-completionDetail': { color: 'inherit', fontStyle: 'normal', opacity: '0.8' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--danger)',
    textUnderlineOffset: '3px',
  },
});

/**
 * An editor below an element. It is in a shadow root, where CodeMirror's styles are adopted: the content
 * security policy forbids the element `style` that it would make elsewhere.
 */
export function createSqlEditor(holder: HTMLElement, { text, onChange, onRun }: SqlEditorOptions): SqlEditor {
  const root = holder.shadowRoot ?? holder.attachShadow({ mode: 'open' });
  root.replaceChildren();
  const language = new Compartment();
  const run = () => {
    onRun();
    return true;
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightActiveLine(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        autocompletion(),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'SQL' }),
        language.of(sql({ dialect: PostgreSQL, upperCaseKeywords: true })),
        syntaxHighlighting(colors),
        look,
        keymap.of([
          { key: 'Mod-Enter', run },
          ...completionKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          indentWithTab,
        ]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    chosenText: () => {
      const { from, to } = view.state.selection.main;
      const chosen = view.state.sliceDoc(from, to);
      return chosen.trim() === ''
        ? { sql: view.state.doc.toString(), offset: 0 }
        : { sql: chosen, offset: from };
    },
    setText: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    setError: (error) => {
      const { length } = view.state.doc;
      const from = Math.max(0, Math.min(error?.from ?? 0, Math.max(0, length - 1)));
      const word = view.state.wordAt(from);
      const to = Math.min(length, Math.max(from + 1, word?.to ?? from + 1));
      const found =
        error === undefined || length === 0
          ? []
          : [{ from, to, severity: 'error' as const, message: error.message }];
      view.dispatch(setDiagnostics(view.state, found));
    },
    setSchema: (schema) => {
      const copied = Object.fromEntries(
        Object.entries(schema).map(([name, columns]) => [name, [...columns]]),
      );
      view.dispatch({
        effects: language.reconfigure(sql({ dialect: PostgreSQL, upperCaseKeywords: true, schema: copied })),
      });
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
