// Runs the packaged extension of VS Code with its server: it starts the server of its settings, sends a document that
// is open, and shows the diagnostics of the server. VS Code itself is replaced by the part of its API that clients of
// language servers call.
//
// usage: node extension.mjs EXTENSION-FOLDER KUBESHAPE
import assert from "node:assert";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [, , folder, program] = process.argv;
const root = mkdtempSync(join(tmpdir(), "kubeshape-"));
const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndat: {}\n";
writeFileSync(join(root, "a.yaml"), text);

class Uri {
  constructor(href) {
    const url = new URL(href);
    Object.assign(this, { scheme: url.protocol.slice(0, -1), path: url.pathname, fsPath: url.pathname, authority: "" });
    this.href = href;
  }
  static parse(text) {
    return new Uri(text);
  }
  static file(path) {
    return new Uri(pathToFileURL(path).href);
  }
  toString() {
    return this.href;
  }
}
class Disposable {
  constructor(dispose = () => {}) {
    this.dispose = dispose;
  }
}
class EventEmitter {
  listeners = new Set();
  event = (listener) => (this.listeners.add(listener), new Disposable(() => this.listeners.delete(listener)));
  fire(value) {
    for (const listener of this.listeners) listener(value);
  }
  dispose() {}
}
class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}
class Range {
  constructor(...ends) {
    const [start, end] = ends.length === 4 ? [new Position(ends[0], ends[1]), new Position(ends[2], ends[3])] : ends;
    Object.assign(this, { start, end });
  }
}
class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}
class CancellationTokenSource {
  token = { isCancellationRequested: false, onCancellationRequested: new EventEmitter().event };
  cancel() {
    this.token.isCancellationRequested = true;
  }
  dispose() {}
}
class CodeActionKind {
  static Empty = new CodeActionKind("");
  static QuickFix = new CodeActionKind("quickfix");
  constructor(value) {
    this.value = value;
  }
  append(part) {
    return new CodeActionKind(this.value ? `${this.value}.${part}` : part);
  }
}
const document = {
  uri: Uri.file(join(root, "a.yaml")),
  fileName: join(root, "a.yaml"),
  languageId: "yaml",
  version: 1,
  isClosed: false,
  getText: () => text,
};

const shown = new Map();
const errors = [];
const settings = { path: resolve(program), arguments: ["--kubernetes", "1.34"] };
const registered = new Map();
// What clients call without a use of the result.
const any = () => new Proxy(class {}, { get: (target, name) => (name in target ? target[name] : undefined) });
const namespace = (own) =>
  new Proxy(own, {
    get: (target, name) => {
      if (name in target) return target[name];
      if (typeof name !== "string") return undefined;
      // `onDidChange…`, `registerHoverProvider`, `createFileSystemWatcher`
      return (target[name] = name.startsWith("on") ? new EventEmitter().event : () => new Disposable());
    },
  });
const vscode = new Proxy(
  {
    version: "1.91.0",
    Uri,
    Disposable,
    EventEmitter,
    Position,
    Range,
    Diagnostic,
    CancellationTokenSource,
    CodeActionKind,
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
    env: { appName: "test", language: "en", appRoot: root },
    commands: namespace({
      registerCommand: (name, run) => (registered.set(name, run), new Disposable()),
      getCommands: async () => [...registered.keys()],
    }),
    languages: namespace({
      match: (selector, document) => ([selector].flat().some((one) => one.language === document.languageId) ? 10 : 0),
      createDiagnosticCollection: () => ({
        set: (uri, found) => shown.set(uri.toString(), found),
        delete: (uri) => shown.delete(uri.toString()),
        clear: () => shown.clear(),
        dispose: () => shown.clear(),
      }),
    }),
    window: namespace({
      createOutputChannel: () => namespace({ append() {}, appendLine() {}, show() {}, dispose() {} }),
      showErrorMessage: async (message) => void errors.push(message),
      visibleTextEditors: [],
      activeTextEditor: undefined,
      tabGroups: namespace({ all: [] }),
    }),
    workspace: namespace({
      workspaceFolders: [{ uri: Uri.file(root), name: "test", index: 0 }],
      textDocuments: [document],
      notebookDocuments: [],
      getConfiguration: (section) => ({
        get: (name, otherwise) => (section === "kubeshape" ? settings[name] : undefined) ?? otherwise,
        has: () => false,
      }),
      createFileSystemWatcher: () => namespace({ dispose() {} }),
    }),
  },
  { get: (target, name) => (name in target || typeof name !== "string" ? target[name] : (target[name] = any())) },
);

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const extension = createRequire(import.meta.url)(resolve(folder, manifest.main));

async function until(what, is) {
  for (let tries = 0; tries < 200 && !is(); tries += 1) await new Promise((resume) => setTimeout(resume, 50));
  assert(is(), what);
}

const brief = (one) => [one.range.start.line, one.code?.value ?? one.code];
const found = () => (shown.get(document.uri.toString()) ?? []).map(brief);
await extension.activate({ subscriptions: [] });
assert.deepStrictEqual(errors, []);
await until("diagnostics", () => found().length > 0);
assert.deepStrictEqual(found(), [[3, "KS8102"]]);
assert.deepStrictEqual([...registered.keys()].filter((name) => name.startsWith("kubeshape.")).sort(), [
  "kubeshape.explainCode",
  "kubeshape.restart",
]);
await registered.get("kubeshape.restart")();
await until("diagnostics after a restart", () => found().length > 0);
await extension.deactivate();
settings.path = join(root, "missing");
await extension.activate({ subscriptions: [] });
assert(errors.some((message) => /cannot be started .* Set kubeshape\.path\./s.test(message)), String(errors));
console.log("extension: passed");
process.exit(0);
