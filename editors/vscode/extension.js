// Starts `viva lsp` for scripts, and again when the path of viva changes.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const command = workspace.getConfiguration("viva").get("path") || "viva";
  const run = { command, args: ["lsp"] };
  client = new LanguageClient("viva", "viva", { run, debug: run }, {
    documentSelector: [{ language: "rhai" }],
  });
  await client.start();
}

async function stop() {
  const before = client;
  client = undefined;
  // One that never started has nothing to stop, and says so by an error.
  if (before) await before.stop().catch(() => {});
}

exports.activate = async (context) => {
  context.subscriptions.push(workspace.onDidChangeConfiguration(async (change) => {
    if (change.affectsConfiguration("viva.path")) {
      await stop();
      await start();
    }
  }));
  await start();
};

exports.deactivate = stop;
