// Runs extension.js with a client that cannot start at first, and prints what happens to it.

"use strict";

const Module = require("module");

const log = [];
const commands = {};
let isBroken = true;
let changed;

class LanguageClient {
  constructor(id, name, server) {
    log.push([server.command, ...server.args].join(" "));
  }

  async start() {
    this.isStarted = !isBroken;
    if (isBroken) {
      throw new Error("no such Python");
    }
    log.push("started");
  }

  async stop() {
    if (!this.isStarted) {
      throw new Error("not running");
    }
    log.push("stopped");
  }
}

const anything = () => new Proxy(function () {}, { get: () => anything(), apply: () => anything(), construct: () => anything() });
const settings = { python: "python3", import: false };
const workspace = { getConfiguration: () => ({ get: (name) => settings[name] }), onDidChangeConfiguration: (call) => (changed = call) };
const known = {
  commands: { registerCommand: (name, call) => (commands[name] = call) },
  workspace: new Proxy(workspace, { get: (own, name) => own[name] ?? anything() }),
};
const vscode = new Proxy(known, { get: (own, name) => own[name] ?? anything() });
const modules = { vscode, "vscode-languageclient/node": { LanguageClient } };
const load = Module._load;
Module._load = (name, ...rest) => modules[name] ?? load(name, ...rest);

async function main() {
  const extension = require(process.argv[2]);
  await extension.activate({ subscriptions: [] }).catch((error) => log.push(error.message));
  isBroken = false;
  await commands["eas.restart"]();
  settings.import = true;
  await changed({ affectsConfiguration: () => true });
  await extension.deactivate();
  console.log(JSON.stringify(log));
}

main();
