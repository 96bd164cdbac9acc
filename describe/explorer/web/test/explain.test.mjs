// The page says of a field what `kubeshape explain -o json` says. It needs the command: KUBESHAPE_COMMAND, or the one that the tests built.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { add, command, dist, launch, noCommand, open, root, serve } from "./browser.mjs";

/** How many fields are read of one definition; they are spread over it. */
const MOST = process.env.KUBESHAPE_ALL ? 300 : 40;
const own = ["docs/demo/widgets.yaml", "kubeshape/examples/crds/tabs.yaml"].map((path) => root + path);
/** Of the definitions of a corpus, all or some. */
const every = process.env.KUBESHAPE_ALL ? 1 : 25;
const folder = process.env.KUBESHAPE_CORPUS && `${process.env.KUBESHAPE_CORPUS}/crds`;
const published = folder
  ? readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".yaml")).sort()
    .filter((_, at) => at % every === 0).map((name) => `${folder}/${name}`)
  : [];
/** Those whose pages are read: a page takes longer than the tree alone. */
const shownFiles = published.filter((_, at) => at % (process.env.KUBESHAPE_ALL ? 10 : 2) === 0);
/** A description without the marks of Markdown, which are laid out. */
const plain = (text) => text.replace(/^\s*```.*$/gm, "").replace(/[`\s*#-]+/g, "");

test("the text of fields equals that of explain", { skip: noCommand }, async (context) => {
  let count = 0;
  const [browser, site] = await Promise.all([launch(), serve(dist)]);
  for (const file of [...own, ...shownFiles]) {
    const { page, close } = await open(browser, site.address);
    await page.waitForSelector(".hero");
    await add(page, ["a.yaml", readFileSync(file, "utf8")]);
    await page.waitForSelector(".row", { timeout: 60_000 });
    const [, , apiVersion, kind] = new URL(page.url()).hash.split("/").map(decodeURIComponent);
    const explain = execFileSync(command, ["explain", "--schemas", file, kind, "--api-version", apiVersion, "-o", "json"], { encoding: "utf8", maxBuffer: 1 << 28 });
    const fields = explain.trim().split("\n").map((line) => JSON.parse(line));
    const every = Math.max(1, Math.ceil(fields.length / MOST));
    for (const field of fields.filter((_, at) => at % every === 0)) {
      await page.evaluate((hash) => { location.hash = hash; }, `#/fields/${[apiVersion, kind, field.path].map(encodeURIComponent).join("/")}`);
      await page.waitForFunction((label) => document.querySelector("article.detail")?.getAttribute("aria-label") === label, `Field ${field.path}`);
      const shown = await page.evaluate(() => ({
        type: document.querySelector("[data-field-type]").textContent,
        required: document.querySelector(".detail header .required") !== null,
        description: document.querySelector("[data-field-description] .prose")?.textContent ?? "",
        facts: [...document.querySelectorAll("[data-fact]")].map((fact) => [fact.dataset.fact, fact.querySelector("dd").textContent]),
        rules: [...document.querySelectorAll(".rule pre")].map((rule) => rule.textContent),
        words: [...document.querySelectorAll("[data-rule-words]")].map((words) => words.textContent),
      }));
      count++;
      assert.equal(shown.type, field.type, field.path);
      assert.equal(shown.required, field.required, field.path);
      assert.equal(plain(shown.description), plain(field.description), field.path);
      const isRule = (name) => name === "rule" || name === "rule in words";
      const facts = field.facts.filter(({ name }) => !isRule(name)).map(({ name, value }) => [name, value]);
      assert.deepEqual(shown.facts.filter(([name]) => !isRule(name)), facts, field.path);
      for (const { value } of field.facts.filter(({ name }) => name === "rule")) {
        assert.ok(shown.rules.some((rule) => value.startsWith(rule)), `${field.path}: ${value}`);
      }
      for (const { value } of field.facts.filter(({ name }) => name === "rule in words")) {
        assert.ok(shown.words.some((words) => plain(words) === plain(value)), `${field.path}: ${value}`);
      }
    }
    await close();
  }
  context.diagnostic(`${count} fields are shown as explain prints them`);
  await browser.close();
  site.close();
});

const explain = (file, { apiVersion, kind }) => {
  const options = ["explain", "--schemas", file, kind, "--api-version", apiVersion, "-o", "json"];
  const lines = execFileSync(command, options, { encoding: "utf8", maxBuffer: 1 << 30 }).trim().split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line)).map(({ path, type, required, description, facts }) =>
    ({ path, type, required, description, facts: facts.map(({ name, value }) => [name, value]) }));
};

/** What the library on the page says of all fields of all kinds of a text. */
const trees = (page, text) => page.evaluate(async (text) => {
  const worker = globalThis.asked ??= new Worker("worker.js", { type: "module" });
  const ask = (method, ...values) => new Promise((resolve, reject) => {
    const id = globalThis.asks = (globalThis.asks ?? 0) + 1;
    const listen = ({ data }) => {
      if (data.id !== id) return;
      worker.removeEventListener("message", listen);
      if (data.error === undefined) resolve(data.value);
      else reject(new Error(data.error));
    };
    worker.addEventListener("message", listen);
    worker.postMessage({ id, method, values });
  });
  await ask("set", "a.yaml", new TextEncoder().encode(text));
  const out = [];
  for (const { apiVersion, kind, isCustomResource } of await ask("kinds")) {
    if (!isCustomResource) continue;
    const { paths } = await ask("tree", apiVersion, kind);
    const fields = [];
    for (let at = 0; at < paths.length; at++) {
      const { path, type, required, description, facts } = await ask("field", apiVersion, kind, at);
      fields.push({ path, type, required, description, facts });
    }
    out.push({ apiVersion, kind, paths, fields });
  }
  await ask("remove", "a.yaml");
  return out;
}, text);

test("the nodes of the tree equal the lines of explain", { skip: noCommand }, async (context) => {
  const [browser, site] = await Promise.all([launch(), serve(dist)]);
  const { page, close } = await open(browser, site.address);
  let count = 0;
  for (const file of [...own, ...published]) {
    for (const found of await trees(page, readFileSync(file, "utf8"))) {
      const expected = explain(file, found);
      assert.deepEqual(found.paths, expected.map(({ path }) => path), file);
      assert.deepEqual(found.fields, expected, file);
      count += expected.length;
    }
  }
  context.diagnostic(`${count} fields are equal`);
  await close();
  await browser.close();
  site.close();
});
