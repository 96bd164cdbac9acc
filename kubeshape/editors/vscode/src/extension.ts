// Starts `kubeshape lsp`. Everything else is in the server.

import { commands, type ExtensionContext, window, workspace } from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

async function start(): Promise<void> {
  const settings = workspace.getConfiguration("kubeshape");
  const command = settings.get<string>("path", "kubeshape");
  const args = ["lsp", ...settings.get<string[]>("arguments", [])];
  const languages = ["yaml", "helm", "json"];
  client = new LanguageClient("kubeshape", "kubeshape", { command, args }, {
    documentSelector: languages.map((language) => ({ scheme: "file", language })),
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    await window.showErrorMessage(`kubeshape: ${command} cannot be started (${error}). Set kubeshape.path.`);
  }
}

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(
    commands.registerCommand("kubeshape.restart", async () => {
      await deactivate();
      await start();
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}
