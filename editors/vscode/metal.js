// Metal beside the source: a virtual document for each kernel, and lines that follow each other.

"use strict";

const SCHEME = "eas-metal";

class MetalView {
  // `ask(uri, line)` gives `{ kernel, text, lines }`, or `{ error }`. `lines` has the Python line
  // behind each line of the text, from 0 on, or -1.
  constructor(vscode, ask) {
    this.vscode = vscode;
    this.ask = ask;
    this.shown = undefined; // { source, uri, line, answer }
    this.isFollowing = false;
    this.changed = new vscode.EventEmitter();
    this.mark = vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      backgroundColor: new vscode.ThemeColor("editor.wordHighlightBackground"),
    });
    this.parts = [
      this.changed,
      this.mark,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
        onDidChange: this.changed.event,
        provideTextDocumentContent: () => this.text(),
      }),
      vscode.window.onDidChangeTextEditorSelection((event) => this.follow(event.textEditor)),
      vscode.workspace.onDidChangeTextDocument((event) => this.update(event.document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.forget(document)),
    ];
  }

  // Shows the kernel at the cursor of the active editor.
  async show() {
    const editor = this.vscode.window.activeTextEditor;
    if (editor === undefined || editor.document.uri.scheme === SCHEME) {
      return;
    }
    const source = editor.document;
    const line = editor.selection.active.line;
    const answer = await this.ask(source.uri.toString(), line);
    if (answer.error !== undefined) {
      this.vscode.window.showInformationMessage(answer.error);
      return;
    }
    const uri = this.vscode.Uri.parse(`${SCHEME}:${answer.kernel}.metal`);
    this.shown = { source, uri, line, answer };
    this.changed.fire(uri);
    const document = await this.vscode.workspace.openTextDocument(uri);
    await this.vscode.window.showTextDocument(document, {
      viewColumn: this.vscode.ViewColumn.Beside,
      preserveFocus: true,
      preview: true,
    });
    this.follow(editor);
  }

  text() {
    return this.shown === undefined ? "" : this.shown.answer.text;
  }

  // The kernel was edited: its text is asked for anew. A broken one keeps the last good text.
  async update(document) {
    if (this.shown === undefined || document !== this.shown.source) {
      return;
    }
    const version = document.version;
    const answer = await this.ask(document.uri.toString(), this.shown.line);
    const isNewest = this.shown !== undefined && document.version === version;
    if (isNewest && answer.error === undefined && answer.text !== this.text()) {
      this.shown.answer = answer;
      this.changed.fire(this.shown.uri);
    }
  }

  // Marks and reveals the lines that belong to the line of the cursor, in the other editor.
  follow(editor) {
    if (this.shown === undefined || this.isFollowing) {
      return;
    }
    const { source, uri, answer } = this.shown;
    const line = editor.selection.active.line;
    const isSource = editor.document === source;
    if (!isSource && editor.document.uri.toString() !== uri.toString()) {
      return;
    }
    if (isSource) {
      this.shown.line = line;
    }
    const other = this.vscode.window.visibleTextEditors.find((each) =>
      isSource ? each.document.uri.toString() === uri.toString() : each.document === source
    );
    const found = isSource ? linesOfMetal(answer.lines, line) : linesOfPython(answer.lines, line);
    if (other === undefined) {
      return;
    }
    const ranges = found.map((number) => new this.vscode.Range(number, 0, number, 0));
    other.setDecorations(this.mark, ranges);
    editor.setDecorations(this.mark, []);
    if (ranges.length > 0) {
      this.isFollowing = true;
      other.revealRange(ranges[0], this.vscode.TextEditorRevealType.InCenterIfOutsideViewport);
      this.isFollowing = false;
    }
  }

  forget(document) {
    if (this.shown !== undefined && document.uri.toString() === this.shown.uri.toString()) {
      this.shown = undefined;
    }
  }

  dispose() {
    for (const part of this.parts) {
      part.dispose();
    }
  }
}

// The lines of Metal that come from a line of Python.
function linesOfMetal(lines, line) {
  return lines.flatMap((python, number) => (python === line ? [number] : []));
}

// The line of Python behind a line of Metal, if there is one.
function linesOfPython(lines, line) {
  return line < lines.length && lines[line] >= 0 ? [lines[line]] : [];
}

module.exports = { MetalView, linesOfMetal, linesOfPython };
