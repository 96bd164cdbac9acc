// Reports, reference pages and the explorer of a server, in a real browser and by validators of HTML and Markdown.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { HtmlValidate } from "html-validate";
import { lint } from "markdownlint/promise";
import { add, command, launch, noCommand, open, root, serve, server, violations } from "./browser.mjs";

const demo = `${root}docs/demo`;
const EVIL = "<img src=x onerror=alert(1)>";

/** Definitions whose strings would be markup, and whose releases differ. */
const crd = (plural, kind, spec, top = "") => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${plural}.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: ${plural}, kind: ${kind}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: ${spec}
    ${top}
`;
const tabs = crd("tabs", "Tab", `{type: object, required: [size], properties: {
            size: {type: integer, minimum: 1, maximum: 9, default: 3, description: "How large it is. ${EVIL} See https://example.com/a."},
            "${EVIL}": {type: string, enum: ["${EVIL}", "a|b"], description: "\`code\` *no emphasis* | no cell"},
            ports: {type: array, maxItems: 4, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [number], items: {
              type: object, required: [number], properties: {number: {type: integer}, host: {type: object, properties: {name: {type: string}}}},
              x-kubernetes-validations: [{rule: "self.number > 0", message: "must be <b>positive</b>"}]}}}}`);
const next = tabs.replace("maximum: 9", "maximum: 3").replace("size: {type", "width: {type: string}, size: {type");
const odd = crd("odds", "Odd", `{type: object, properties: {s: {type: string, x-kubernetes-validations: [{rule: "self.matches('<') && quantity(self).isInteger()", optionalOldSelf: true}]}}}`,
  `selectableFields: [{jsonPath: .spec.s}]`);
/** A name that is wider than a narrow screen. */
const long = crd("averylongnamethatneedsmorespacethanascreenhas", "Long", "{type: object}");
const tab = `apiVersion: example.com/v1\nkind: Tab\nmetadata: {name: a}\nspec: {size: 12, "${EVIL}": b, other: 1}\n---\n`
  + `apiVersion: v1\nkind: Unknown\nmetadata: {name: b}\n`;

let folder, browser, site;
before(async () => {
  if (noCommand) return;
  folder = await mkdtemp(join(tmpdir(), "kubeshape-pages-"));
  const files = { "tabs.yaml": tabs, "next.yaml": next, "tab.yaml": tab, "crds/odd.yaml": odd, "crds/tabs.yaml": tabs, "crds/long.yaml": long };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  [browser, site] = await Promise.all([launch(), serve(folder)]);
});
after(async () => {
  await browser?.close();
  site?.close();
  if (folder) await rm(folder, { recursive: true });
});

/** Runs the command; code 1 says that something was found. */
const run = (...options) => new Promise((resolve, reject) =>
  execFile(command, options, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 }, (error, out, err) =>
    (error && error.code !== 1 ? reject(new Error(`${options.join(" ")}: ${err}`)) : resolve(out))));

const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

/** The rules of HTML and of accessibility. Rules about style are left out. */
const validator = new HtmlValidate({ root: true, extends: ["html-validate:standard", "html-validate:a11y"] });
async function isValid(name, text) {
  const { results } = await validator.validateString(text, name);
  const messages = results.flatMap(({ messages }) => messages);
  assert.deepEqual(messages.map(({ ruleId, message, line }) => `${name}:${line}: ${message} (${ruleId})`), []);
}

/** Lines may be long. A comment of a pull request begins with a small heading and folds its details. */
const LINT = { MD013: false, MD033: false, MD041: false };
async function isTidy(strings, config) {
  const found = await lint({ strings, config });
  const lines = Object.entries(found).flatMap(([name, all]) =>
    all.map(({ lineNumber, ruleNames, errorDetail }) => `${name}:${lineNumber}: ${ruleNames[0]} ${errorDetail ?? ""} ${strings[name].split("\n")[lineNumber - 1]}`));
  assert.deepEqual(lines, []);
}

const REPORTS = {
  check: ["check", "crds", "--kubernetes", "1.28..1.37", "--level", "advice"],
  validate: ["validate", "--schemas", "tabs.yaml", "tab.yaml"],
  diff: ["diff", "tabs.yaml", "next.yaml", "--witness"],
  upgrade: ["upgrade", "tabs.yaml", "next.yaml"],
  test: ["test", "--schemas", `${demo}/widgets.yaml`, `${demo}/widget.testsuite.yaml`],
};

for (const [name, options] of Object.entries(REPORTS)) {
  test(`the report of ${name} is a valid page that runs nothing`, { skip: noCommand }, async () => {
    const text = await run(...options, "--output-format", "html");
    await isValid(`${name}.html`, text);
    await writeFile(join(folder, `${name}.html`), text);
    for (const view of [{}, { colorScheme: "dark" }, { viewport: { width: 360, height: 740 } }]) {
      const { page, wrong, close } = await open(browser, `${site.address}${name}.html`, view);
      page.on("dialog", () => wrong.push("a dialog"));
      assert.match(await page.textContent(".verdict"), /\S/);
      assert.deepEqual(await violations(page), [], JSON.stringify(view));
      assert.ok(await fits(page), "the page is wider than the screen");
      assert.equal(await page.locator("img, script").count(), 0);
      assert.deepEqual(wrong, []);
      await close();
    }
    await isTidy({ [`${name}.md`]: `${await run(...options, "--output-format", "markdown")}` }, LINT);
  });
}

test("findings of a report are filtered by severity and by kind", { skip: noCommand }, async () => {
  await writeFile(join(folder, "filter.html"), await run(...REPORTS.validate, "--output-format", "html"));
  const { page, wrong, close } = await open(browser, `${site.address}filter.html`);
  const shown = () => page.locator("article:visible").count();
  const all = await shown();
  assert.ok(all > 2);
  await page.uncheck("#show-error");
  const rest = await shown();
  assert.ok(rest < all);
  await page.check("#show-error");
  await page.selectOption("#kind", { label: "Tab" });
  assert.ok(await shown() < all && await shown() > 0);
  assert.deepEqual(wrong, []);
  await close();
});

test("releases are columns, definitions and their findings are rows", { skip: noCommand }, async () => {
  await writeFile(join(folder, "matrix.html"), await run(...REPORTS.check, "--output-format", "html"));
  const { page, close } = await open(browser, `${site.address}matrix.html`);
  const columns = await page.locator(".matrix thead th").allInnerTexts();
  assert.deepEqual(columns, ["1.28", "1.29", "1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36", "1.37"]);
  const rows = await page.locator(".matrix tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText)));
  assert.deepEqual(rows.find(([name]) => name === "tabs.example.com").slice(1), columns.map(() => "✓"));
  const refused = rows.find(([name]) => name === "odds.example.com").slice(1);
  assert.match(refused[0], /^✗ \d+$/);
  assert.ok(rows.some(([name, ...cells]) => /KS\d{4}/.test(name) && cells[0] !== "" && cells[9] === ""), JSON.stringify(rows));
  assert.deepEqual(await violations(page), []);
  await close();
});

/** The files of a folder, with their texts. */
async function files(folder, ending) {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(ending)).sort();
  return Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")]));
}

/** The definitions of a corpus, all or some. */
async function published() {
  if (!process.env.KUBESHAPE_CORPUS) return [];
  const every = process.env.KUBESHAPE_ALL ? 10 : 100;
  const folder = `${process.env.KUBESHAPE_CORPUS}/crds`;
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".yaml")).sort();
  return names.filter((_, at) => at % every === 0).map((name) => `${folder}/${name}`);
}

for (const nested of ["inline", "linked"]) {
  test(`reference pages are valid, with nested objects ${nested}`, { skip: noCommand }, async () => {
    const inputs = ["crds", `${demo}/widgets.yaml`, ...(await published())];
    await run("docs", ...inputs, "-o", `html-${nested}`, "--to", "html", "--nested", nested);
    await run("docs", ...inputs, "-o", `md-${nested}`, "--nested", nested);
    const pages = await files(join(folder, `html-${nested}`), ".html");
    assert.ok(pages.length > 3);
    for (const [name, text] of pages) await isValid(name, text);
    // These pages switch off what they need themselves.
    await isTidy(Object.fromEntries(await files(join(folder, `md-${nested}`), ".md")), {});
    const { page, wrong, close } = await open(browser, `${site.address}html-${nested}/index.html`);
    page.on("dialog", () => wrong.push("a dialog"));
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press("/");
    await page.keyboard.type("widget");
    await page.waitForFunction(() => /^1 of \d+$/.test(document.querySelector("#found").textContent));
    assert.equal(await page.locator(".entry:visible").count(), 1);
    await page.keyboard.press("Escape");
    await page.fill("#words", "tabs");
    await page.click(".entry:visible a[href='example.com.v1/Tab.html']");
    await page.waitForURL(/Tab\.html$/);
    assert.deepEqual(await violations(page), []);
    assert.equal(await page.locator("img").count(), 0);
    await page.setViewportSize({ width: 360, height: 740 });
    assert.ok(await fits(page), "the page is wider than the screen");
    if (nested === "linked") {
      await page.click("section >> text=its fields >> nth=0");
      assert.match(page.url(), /#fields\.[a-z]+$/);
    }
    await page.fill("#words", "positive");
    await page.waitForFunction(() => document.querySelector("#found").textContent.startsWith("1 of "));
    assert.deepEqual(wrong, []);
    await close();
  });
}

test("an index of many kinds is searched", { skip: noCommand }, async () => {
  const count = process.env.KUBESHAPE_ALL ? 3_000 : 300;
  const all = Array.from({ length: count }, (_, at) => crd(`kinds${at}`, `Kind${at}`, "{type: object}"));
  await writeFile(join(folder, "many.yaml"), all.join("---\n"));
  await run("docs", "many.yaml", "-o", "many", "--to", "html");
  const { page, wrong, close } = await open(browser, `${site.address}many/index.html`);
  await page.fill("#words", `kinds${count - 1}`);
  await page.waitForFunction((found) => document.querySelector("#found").textContent === found, `1 of ${count}`);
  assert.equal(await page.locator(".entry:visible").count(), 1);
  await page.fill("#words", "no such kind");
  await page.waitForFunction((found) => document.querySelector("#found").textContent === found, `0 of ${count}`);
  assert.equal(await page.locator(".group:visible").count(), 0);
  assert.deepEqual(wrong, []);
  await close();
});

test("the first view of a written site needs no WebAssembly", { skip: noCommand }, async () => {
  await run("explore", "crds", `${demo}/widgets.yaml`, "-o", "explorer");
  const { page, wrong, close } = await open(browser, `${site.address}explorer/#/fields/example.com%2Fv1/Tab/.spec.ports`);
  const loaded = [];
  page.on("request", (request) => loaded.push(request.url().slice(site.address.length)));
  await page.reload();
  await page.waitForFunction(() => document.querySelector("[data-field-name]")?.textContent === "ports");
  assert.match(await page.textContent(".rule"), /self\.number > 0/);
  assert.ok(!loaded.some((name) => name.endsWith(".wasm.gz") || name.endsWith("editor.js")), loaded.join());
  assert.deepEqual(await violations(page), []);
  await page.click(".views >> text=Judge");
  await page.waitForSelector(".pill");
  assert.deepEqual(wrong, []);
  await close();
});

test("a server shows its API to browsers, and answers clients as before", { skip: noCommand }, async () => {
  const running = await server(join(folder, "tabs.yaml"), `${demo}/widgets.yaml`);
  try {
    const paths = await (await fetch(running.address, { headers: { Accept: "application/json" } })).json();
    assert.ok(paths.paths.includes("/openapi/v3"), JSON.stringify(paths));
    const { page, wrong, close } = await open(browser, running.address);
    const loaded = [];
    page.on("request", (request) => loaded.push(request.url().slice(running.address.length)));
    await page.reload();
    await page.waitForSelector(".row");
    assert.match(page.url(), /\/explorer\//);
    assert.deepEqual(await violations(page), []);
    const kinds = await page.locator("nav.kinds button").allInnerTexts();
    for (const kind of ["Tab", "Widget"]) assert.ok(kinds.some((text) => text.startsWith(kind)), kinds.join());
    await page.click("nav.kinds button >> text=Tab");
    await page.click(".row .name >> text=/^ports$/");
    await page.waitForFunction(() => document.querySelector("[data-field-name]")?.textContent === "ports");
    assert.match(await page.textContent(".merge"), /number/);
    assert.match(await page.textContent(".rule"), /self\.number > 0/);
    assert.deepEqual(await violations(page), []);
    assert.ok(loaded.includes("explorer/data/kinds.json"), loaded.join());
    const heavy = loaded.filter((name) => /wasm|worker\.js|editor\.js|openapi/.test(name));
    assert.deepEqual(heavy, [], "the first view and fields come from the server alone");
    // A search is the library's, which now loads with the document of the kind.
    await page.fill(".search input", ".spec.ports");
    await page.waitForFunction(() => document.querySelector(".count").textContent.includes(" of "));
    assert.ok(loaded.some((name) => name.endsWith("kubeshape.wasm.gz")), loaded.join());
    assert.ok(loaded.includes("openapi/v3/apis/example.com/v1"), loaded.join());
    await page.fill(".search input", "");
    // Kinds of dropped files join those of the server.
    const shown = await page.locator("nav.kinds button").count();
    await add(page, ["other.yaml", crd("others", "Other", "{type: object, properties: {a: {type: string}}}")]);
    await page.waitForFunction(() => [...document.querySelectorAll("nav.kinds button")].some((one) => one.textContent.startsWith("Other")));
    assert.equal(await page.locator("nav.kinds button").count(), shown + 1);
    assert.deepEqual(wrong, []);
    await close();
  } finally {
    running.close();
  }
});
