// The extension of VS Code: it starts `eas lsp`, and shows Metal beside the source.

"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { MetalView } = require("./metal");

let client;

async function activate(context) {
  const metal = new MetalView(vscode, (uri, line) => client.sendRequest("eas/metal", { uri, line }));
  context.subscriptions.push(
    metal,
    vscode.commands.registerCommand("eas.showMetal", () => metal.show()),
    vscode.commands.registerCommand("eas.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("eas")) {
        return restart();
      }
    })
  );
  await start();
}

async function start() {
  const settings = vscode.workspace.getConfiguration("eas");
  const options = settings.get("import") ? [] : ["--no-import"];
  client = new LanguageClient(
    "eas",
    "easy_as",
    { command: settings.get("python"), args: ["-m", "eas.cli", "lsp", ...options] },
    { documentSelector: [{ language: "python", scheme: "file" }] }
  );
  await client.start();
}

async function restart() {
  await stop();
  await start();
}

// A client that could not start, as with a wrong `eas.python`, cannot be stopped either.
async function stop() {
  await client?.stop().catch(() => undefined);
}

module.exports = { activate, deactivate: stop };
