// The npm package: packed, installed from its archive without a network, and run.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { root } from "./browser.mjs";

const run = promisify(execFile);
const widgets = `${root}docs/demo/widgets.yaml`;
let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "kubeshape-npm-"));
  await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: `${root}kubeshape/js/npm` });
  const [archive] = await readdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--silent", `./${archive}`], { cwd: folder });
});
after(async () => { if (folder) await rm(folder, { recursive: true }); });

/** Runs the command of the package. Returns its code and what it printed. */
const kubeshape = (...options) => new Promise((resolve) =>
  execFile("npx", ["--no-install", "kubeshape", ...options], { cwd: folder, maxBuffer: 1 << 26 }, (error, out, err) =>
    resolve([error ? error.code : 0, out, err])));

test("the archive has the files that it needs, and no others", async () => {
  const names = (await readdir(join(folder, "node_modules/kubeshape"))).sort();
  assert.deepEqual(names, ["LICENSE", "README.md", "glue.js", "index.d.ts", "index.js", "kubeshape.js", "kubeshape.wasm.gz", "package.json", "testing.d.ts", "testing.js"]);
});

test("the package has the version of the crates", async () => {
  const [, version] = /^version = "(.*)"$/m.exec(await readFile(`${root}Cargo.toml`, "utf8"));
  assert.equal(JSON.parse(await readFile(`${root}kubeshape/js/npm/package.json`, "utf8")).version, version);
});

test("the command checks, judges, explains, converts and compares", async () => {
  const [code, out, err] = await kubeshape("check", widgets, "--kubernetes", "1.28..1.37");
  assert.deepEqual([code, err], [0, ""]);
  assert.match(out, /^widgets\.example\.com: installs on 1\.28 to 1\.37$/m);
  const [refused, said] = await kubeshape("validate", "--schemas", widgets, `${root}docs/demo/mistyped.yaml`);
  assert.equal(refused, 1, said);
  await writeFile(join(folder, "tab.yaml"), "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {\"\\u202e\\e\": 1}\n");
  const [, judged] = await kubeshape("validate", "--schemas", widgets, "tab.yaml");
  assert.match(judged, /tab\.yaml:4:\d+: error\[KS\d{4}\]: .*spec\.size: Required value/);
  assert.doesNotMatch(judged, /[\u001b\u202e]/);
  const [, fields] = await kubeshape("explain", widgets, "--kind", "Widget");
  assert.match(fields, /^\.spec\.size\t[^\t]+\trequired/m);
  const [, schema] = await kubeshape("convert", widgets, "--kind", "widgets", "--to", "json-schema");
  assert.equal(JSON.parse(schema).type, "object");
  const [breaking, changes] = await kubeshape("diff", widgets, `${root}docs/demo/widgets-next.yaml`);
  assert.equal(breaking, 1);
  assert.match(changes, /^breaking\[KS8405\]: /m);
  const [, sample] = await kubeshape("sample", widgets, "--kind", "Widget");
  assert.match(sample, /^kind: Widget$/m);
  const [, page] = await kubeshape("explain-code", "KS3110");
  assert.match(page, /KS3110|structural/);
});

test("wrong command lines are refused with code 2", async () => {
  for (const [options, message] of [
    [["chek", widgets], /there is no command chek/], [["check"], /needs a file/], [["check", "--nope"], /--nope/],
    [["check", "none.yaml"], /none\.yaml/], [["sample", widgets, "--kind", "Tab"], /there is no kind Tab; the inputs define Widget/],
    [["check", widgets, "--kubernetes", "9"], /9/],
  ]) {
    const [code, out, err] = await kubeshape(...options);
    assert.deepEqual([code, out], [2, ""], options.join(" "));
    assert.match(err, message);
  }
});

test("programs import the session", async () => {
  const program = `
    import { NEWEST, Session } from "kubeshape";
    import { readFileSync } from "node:fs";
    const session = new Session();
    console.log(JSON.stringify(session.set("a.yaml", readFileSync(process.argv[2]))));
    const [{ apiVersion, kind }] = session.kinds();
    const { paths } = session.tree(apiVersion, kind);
    console.log(kind, paths.includes(".spec.size"), session.check("a.yaml", NEWEST).definitions[0].accepted);
    session.free();
  `;
  await writeFile(join(folder, "program.mjs"), program);
  const { stdout } = await run(process.execPath, ["program.mjs", widgets], { cwd: folder });
  assert.equal(stdout, "[]\nWidget true true\n");
});

test("the types of the package describe its session", async () => {
  await writeFile(join(folder, "use.ts"), `
    import { Session, type Field } from "kubeshape";
    const session = new Session();
    const field: Field = session.field("example.com/v1", "Widget", 0);
    const text: string | undefined = session.shape("example.com/v1", "Widget", "kustomize").text;
    // @ts-expect-error: there is no such shape
    session.shape("example.com/v1", "Widget", "v4");
    export { field, text };
  `);
  const tsc = `${root}describe/explorer/web/node_modules/typescript/bin/tsc`;
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--moduleResolution", "nodenext", "--types", "", "--ignoreConfig", "use.ts"];
  await run(process.execPath, [tsc, ...options], { cwd: folder });
});
