// The view of Metal with a stand-in for VS Code, which notes what happens to editors.

"use strict";

const { MetalView, linesOfMetal, linesOfPython } = require(process.argv[2]);
const events = {};
const editors = [];
const messages = [];
const nothing = { dispose() {} };
let provider;
const on = (name) => (handler) => { events[name] = handler; return nothing; };
class Range { constructor(line) { this.line = line; } }
class EventEmitter { constructor() { this.event = () => nothing; } fire() {} dispose() {} }
const editorOf = (uri, line) => ({
  document: { uri: { scheme: uri.split(":")[0], toString: () => uri }, version: 1 },
  selection: { active: { line } },
  marked: [], revealed: [],
  setDecorations(_, ranges) { this.marked = ranges.map((each) => each.line); },
  revealRange(range) { this.revealed.push(range.line); },
});
const vscode = {
  EventEmitter, Range,
  ThemeColor: class {},
  Uri: { parse: (text) => ({ scheme: text.split(":")[0], toString: () => text }) },
  ViewColumn: { Beside: 2 },
  TextEditorRevealType: { InCenterIfOutsideViewport: 2 },
  window: {
    createTextEditorDecorationType: () => nothing,
    onDidChangeTextEditorSelection: on("selection"),
    showInformationMessage: (text) => messages.push(text),
    showTextDocument: async (document) => {
      const editor = editorOf(document.uri.toString(), 0);
      editor.document = document;
      editors.push(editor);
    },
    visibleTextEditors: editors,
  },
  workspace: {
    registerTextDocumentContentProvider: (_, given) => { provider = given; return nothing; },
    onDidChangeTextDocument: on("change"),
    onDidCloseTextDocument: on("close"),
    openTextDocument: async (uri) => ({ uri, version: 1 }),
  },
};
(async () => {
  const answers = [
    { kernel: "k", text: "first", lines: [-1, 7, 7, 9] },
    { error: "broken" },
    { kernel: "k", text: "second", lines: [-1, 8, 8, 10] },
  ];
  const asked = [];
  const view = new MetalView(vscode, async (uri, line) => {
    asked.push([uri, line]);
    return answers.shift();
  });
  const source = editorOf("file:///k.py", 7);
  vscode.window.activeTextEditor = source;
  editors.push(source);
  await view.show();
  const metal = editors[1];
  const text = () => provider.provideTextDocumentContent();
  const first = { uri: metal.document.uri.toString(), text: text(), marked: metal.marked };
  metal.selection.active.line = 3;
  events.selection({ textEditor: metal });
  const back = { marked: source.marked, revealed: source.revealed, left: metal.marked };
  await events.change({ document: source.document });
  const broken = text();
  await events.change({ document: source.document });
  const fixed = text();
  answers.push({ error: "no kernel" });
  await view.show();
  const lines = [linesOfMetal([1, 2, 1], 1), linesOfPython([-1, 4], 0), linesOfPython([-1, 4], 1)];
  console.log(JSON.stringify({ first, back, broken, fixed, asked, messages, lines }));
})();
