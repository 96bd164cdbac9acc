// Opens a file in yaml-language-server, and prints what it shows at a place and what it objects to, as JSON.
// Arguments: the folder of the package, the file, the line and the column, from 0.
const [server, file, line, character] = process.argv.slice(2);
const { spawn } = require('child_process'), fs = require('fs'), path = require('path'), url = require('url');
const child = spawn(process.execPath, [path.join(server, 'bin/yaml-language-server'), '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
const send = (message) => {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
};
const uri = url.pathToFileURL(file).href;
let buffer = Buffer.alloc(0), out = {};
const done = () => { if ('hover' in out && 'diagnostics' in out) { console.log(JSON.stringify(out)); child.kill(); } };
child.stdout.on('data', (data) => {
  buffer = Buffer.concat([buffer, data]);
  for (;;) {
    const head = buffer.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = +/Content-Length: (\d+)/.exec(buffer.subarray(0, head).toString())[1];
    if (buffer.length < head + 4 + length) return;
    const message = JSON.parse(buffer.subarray(head + 4, head + 4 + length).toString());
    buffer = buffer.subarray(head + 4 + length);
    if (message.id === 1 && message.result) {
      send({ method: 'initialized', params: {} });
      send({ method: 'textDocument/didOpen', params: { textDocument: { uri, languageId: 'yaml', version: 1, text: fs.readFileSync(file, 'utf8') } } });
      send({ id: 2, method: 'textDocument/hover', params: { textDocument: { uri }, position: { line: +line, character: +character } } });
    } else if (message.id === 2 && 'result' in message) {
      out.hover = message.result && message.result.contents.value; done();
    } else if (message.method === 'textDocument/publishDiagnostics') {
      out.diagnostics = message.params.diagnostics.map((d) => `${d.range.start.line}: ${d.message}`); done();
    } else if (message.method && message.id !== undefined) {
      send({ id: message.id, result: message.method === 'workspace/configuration' ? message.params.items.map(() => null) : null });
    }
  }
});
send({ id: 1, method: 'initialize', params: { processId: process.pid, rootUri: null, capabilities: {} } });
setTimeout(() => { console.log(JSON.stringify({ timeout: true, ...out })); child.kill(); process.exit(1); }, 20000).unref();
