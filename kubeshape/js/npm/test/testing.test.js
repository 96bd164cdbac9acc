// The API server for tests. The variable KUBESHAPE names the program.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { ApiServer } from "../testing.js";

const configMaps = (of) => `${of.url}/api/v1/namespaces/default/configmaps`;
const names = async (of) => (await (await fetch(configMaps(of))).json()).items.map(({ metadata }) => metadata.name);
const create = async (of, name) => {
  const body = JSON.stringify({ metadata: { name } });
  const answer = await fetch(configMaps(of), { method: "POST", body, headers: { "Content-Type": "application/json" } });
  assert.equal(answer.status, 201);
  return answer.json();
};

test("snapshots, the clock and worlds", async (t) => {
  const server = await ApiServer.start({ manualClock: true });
  t.after(() => server.stop());
  const before = await server.now();
  await server.advance(90);
  assert.equal(await server.now() - before, 90_000);
  const { metadata } = await create(server, "prepared");
  assert.equal(new Date(metadata.creationTimestamp).getTime(), (await server.now()).getTime());
  const state = await server.snapshot();
  const [one, other] = await Promise.all([server.world(state), server.world()]);
  await create(one, "a");
  await one.advance(3600);
  assert.deepEqual([await names(server), await names(one), await names(other)], [["prepared"], ["a", "prepared"], []]);
  assert.equal(await one.now() - await server.now(), 3_600_000);
  await one.restore(0);
  assert.deepEqual(await names(one), ["prepared"]);
  const path = await one.kubeconfig();
  assert.equal(JSON.parse(await readFile(path, "utf8")).clusters[0].cluster.server, one.url);
  await one.stop();
  await one.stop();
  await assert.rejects(names(one));
  assert.deepEqual(await names(other), []);
  await assert.rejects(server.world(99), /there is no snapshot 99/);
  await server.restore(0);
  assert.deepEqual(await names(server), []);
  await server.stop();
  await assert.rejects(access(path));
  await assert.rejects(names(other));
});

test("what cannot start says why", async () => {
  await assert.rejects(ApiServer.start({ options: ["--frobnicate"] }), /unexpected argument '--frobnicate'/);
  await assert.rejects(ApiServer.start({ program: "/nowhere/kubeshape" }), /ENOENT/);
  const folder = await mkdtemp(join(tmpdir(), "kubeshape-test-"));
  try {
    await writeFile(join(folder, "broken.yaml"), "kind: [");
    await writeFile(join(folder, "good.yaml"), await readFile(new URL("../../../../docs/demo/widgets.yaml", import.meta.url)));
    await assert.rejects(ApiServer.start({ definitions: [folder] }), /broken\.yaml:1/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the guide", async () => {
  const root = new URL("../../../../", import.meta.url);
  const guide = await readFile(new URL("docs/envtest.md", root), "utf8");
  const [example, definition] = ["js", "yaml"].map((language) => new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "ms").exec(guide)[1]);
  const folder = await mkdtemp(join(tmpdir(), "kubeshape-test-"));
  try {
    await mkdir(join(folder, "crds"));
    await writeFile(join(folder, "crds/widgets.yaml"), definition);
    const module = new URL("../testing.js", import.meta.url);
    await writeFile(join(folder, "guide.test.mjs"), example.replace('"kubeshape/testing"', JSON.stringify(module.href)));
    const environment = { ...process.env, NODE_TEST_CONTEXT: undefined };
    await promisify(execFile)(process.execPath, ["--test", "guide.test.mjs"], { cwd: folder, env: environment });
  } finally {
    await rm(folder, { recursive: true });
  }
});
