// The explorer in a real browser: `cargo xtask explorer --test`.
import assert from "node:assert/strict";
import { readFile, writeFile, mkdir } from "node:fs/promises";
import { after, before, test } from "node:test";
import { add, dist, launch, open, root, serve, violations } from "./browser.mjs";

const pictures = process.env.KUBESHAPE_PICTURES;
const widgets = await readFile(`${root}docs/demo/widgets.yaml`, "utf8");
let browser, site;
before(async () => { [browser, site] = await Promise.all([launch(), serve(dist)]); });
after(async () => { await browser?.close(); site?.close(); });

/** A page with a definition in it. */
async function started(text, options, name = "a.yaml") {
  const opened = await open(browser, site.address, options);
  await opened.page.waitForSelector(".hero");
  await add(opened.page, [name, text]);
  await opened.page.waitForSelector(".row", { timeout: 60_000 });
  return opened;
}

const recorded = new URL("pictures.json", import.meta.url);
const looks = JSON.parse(await readFile(recorded, "utf8").catch(() => "{}"));
const isUpdate = process.env.UPDATE_EXPECT !== undefined;
/** The columns and rows of blocks into which a picture is divided. Fonts differ between machines, and blocks hardly do. */
const [WIDE, HIGH] = [34, 22];

/** The mean brightness of the blocks of a picture. */
async function brightness(png) {
  const page = await browser.newPage();
  const blocks = await page.evaluate(async ([base64, wide, high]) => {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }), { resizeWidth: wide, resizeHeight: high, resizeQuality: "high" });
    const context = new OffscreenCanvas(wide, high).getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, wide, high);
    return Array.from({ length: wide * high }, (_, at) => Math.round((data[4 * at] + data[4 * at + 1] + data[4 * at + 2]) / 3));
  }, [png.toString("base64"), WIDE, HIGH]);
  await page.close();
  return blocks;
}

/** Compares the page with its recorded picture. UPDATE_EXPECT records it; KUBESHAPE_PICTURES is a folder for the files. */
async function picture(page, name) {
  await page.mouse.move(0, 0);
  const png = await page.screenshot({ animations: "disabled", caret: "hide" });
  if (pictures) {
    await mkdir(pictures, { recursive: true });
    await writeFile(`${pictures}/${name}.png`, png);
  }
  const blocks = await brightness(png);
  if (isUpdate) looks[name] = Buffer.from(blocks).toString("base64");
  const expected = [...Buffer.from(looks[name] ?? "", "base64")];
  assert.equal(expected.length, blocks.length, `there is no recorded picture ${name}; UPDATE_EXPECT=1 records it`);
  const differences = blocks.map((block, at) => Math.abs(block - expected[at]));
  const mean = differences.reduce((sum, one) => sum + one, 0) / blocks.length;
  const far = differences.filter((one) => one > 40).length / blocks.length;
  assert.ok(mean < 5 && far < 0.03, `${name} looks different: mean ${mean.toFixed(1)}, ${(far * 100).toFixed(1)} % of the blocks; UPDATE_EXPECT=1 records it`);
}
after(async () => {
  const sorted = Object.fromEntries(Object.entries(looks).sort(([a], [b]) => (a < b ? -1 : 1)));
  if (isUpdate) await writeFile(recorded, `${JSON.stringify(sorted, null, 1)}\n`);
});

const crd = (properties, rest = "") => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: tabs, kind: Tab}
  versions:
  - name: v1
    served: true
    storage: true
    ${rest}schema: {openAPIV3Schema: {type: object, properties: ${properties}}}
`;

test("a definition is dropped, and its fields are shown", async () => {
  const { page, wrong, close } = await open(browser, site.address);
  await page.waitForSelector(".hero");
  assert.deepEqual(await violations(page), []);
  await picture(page, "start");
  const data = await page.evaluateHandle((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "widgets.yaml"));
    return data;
  }, widgets);
  await page.dispatchEvent("body", "drop", { dataTransfer: data });
  await page.waitForSelector(".row");
  await page.click(".row .name >> text=/^spec$/");
  await page.waitForSelector("[data-field-name]");
  assert.equal(await page.textContent("[data-field-name]"), "spec");
  assert.deepEqual(await violations(page), []);
  await picture(page, "fields");
  assert.deepEqual(wrong, []);
  await close();
});

test("an example shows all that is known of a field", async () => {
  const { page, wrong, close } = await open(browser, site.address);
  await page.click("text=Try an example");
  await page.click(".row .name >> text=/^beds$/");
  await page.waitForSelector(".rule .bar");
  assert.equal(await page.textContent("[data-rule-words]"), "planted must be at most rows.");
  assert.match(await page.textContent(".rule"), /a bed has no more planted rows than rows/);
  assert.match(await page.textContent(".merge"), /Items merge by name/);
  assert.deepEqual(await violations(page), []);
  await picture(page, "example");
  assert.deepEqual(wrong, []);
  await close();
});

test("the keyboard alone finds and shows a field, and the address leads to it", async () => {
  const { page, wrong, close } = await started(widgets);
  await page.keyboard.press("/");
  await page.keyboard.type("ports");
  await page.waitForFunction(() => document.querySelector(".count")?.textContent?.includes(" of "));
  await page.keyboard.press("ArrowDown");
  for (let step = 0; step < 3 && (await page.locator("[data-field-name]").allTextContents())[0] !== "ports"; step++) {
    await page.keyboard.press("ArrowDown");
    await page.waitForTimeout(150);
  }
  await page.waitForFunction(() => document.querySelector("[data-field-name]")?.textContent === "ports");
  const address = page.url();
  assert.match(decodeURIComponent(address), /#\/fields\/.*\/\.spec\.ports$/);
  await page.keyboard.press("Escape");
  assert.equal(await page.getAttribute('[role=treeitem][aria-selected="true"]', "aria-level"), "2");
  assert.deepEqual(wrong, []);
  await close();
});

test("an object is judged at its lines, and what is stored is shown", async () => {
  const text = crd("{spec: {type: object, properties: {size: {type: integer, maximum: 3}, colour: {type: string, default: red}}}}");
  const { page, wrong, close } = await started(text);
  await page.click(".views >> text=Judge");
  const editor = page.locator(".cm-content");
  await editor.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("apiVersion: example.com/v1\nkind: Tab\nmetadata: {name: a}\nspec:\n  size: 7\n  sise: 1\n");
  await page.waitForSelector(".pill.bad");
  const findings = await page.locator(".finding").allInnerTexts();
  assert.ok(findings.some((text) => text.includes("line 5") && text.includes("should be less than or equal to 3")), findings.join());
  assert.ok(findings.some((text) => text.includes("line 6") && text.includes("sise")), findings.join());
  const lines = await page.locator(".lines .added").allInnerTexts();
  assert.ok(lines.some((line) => line.includes("colour: red")), lines.join());
  assert.deepEqual(await violations(page), []);
  await picture(page, "judge");
  await page.click("text=Two managers");
  await page.waitForSelector(".owners");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(wrong, []);
  await close();
});

test("shapes mark the selected field and say what they lose", async () => {
  const { page, wrong, close } = await started(crd("{spec: {type: object, properties: {size: {type: integer, nullable: true}}}}"));
  await page.click(".row .name >> text=/^size$/");
  await page.click(".loss button.code");
  await page.waitForSelector(".loss .page .prose");
  assert.deepEqual(await violations(page), []);
  await page.click(".views >> text=Shapes");
  await page.waitForFunction(() => [...document.querySelectorAll(".pane")].every((pane) => pane.shadowRoot?.querySelector(".cm-field")));
  await page.waitForSelector("text=1 loss");
  // What OpenAPI v2 loses is marked in the definition, and its code leads to its page.
  await page.waitForFunction(() => document.querySelector(".pane").shadowRoot.querySelector(".cm-lintRange"));
  assert.deepEqual(await violations(page), []);
  await picture(page, "shapes");
  await page.click("text=What it loses");
  await page.click(".losses button.code");
  await page.waitForSelector(".losses .page .prose");
  assert.match(await page.textContent(".losses .page"), /OpenAPI v2/);
  await page.selectOption("[aria-label='Right shape'] select", "kustomize");
  await page.waitForFunction(() => document.querySelectorAll(".pane")[1].shadowRoot.textContent.includes("Merge keys for kustomize"));
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(wrong, []);
  await close();
});

test("a change is compared, with its witness and the steps of an upgrade", async () => {
  const { page, wrong, close } = await started(crd("{spec: {type: object, properties: {size: {type: integer, maximum: 9}}}}"));
  await page.click(".views >> text=Compare");
  await page.waitForSelector("text=nothing changed");
  const next = crd("{spec: {type: object, properties: {size: {type: integer, maximum: 3}}}}");
  await page.locator(".cm-content").nth(1).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(next);
  await page.waitForSelector(".change.breaking");
  assert.match(await page.innerText(".change.breaking"), /spec\.size/);
  await page.waitForSelector(".changed-tree .row.breaking");
  assert.equal(await page.textContent(".changed-tree .row.breaking .name"), "size");
  await page.click(".change button.code");
  await page.waitForSelector(".change .page .prose");
  await page.click(".change button.code");
  assert.deepEqual(await violations(page), []);
  await picture(page, "compare");
  assert.deepEqual(wrong, []);
  await close();
});

test("a graph is drawn", async () => {
  const all = crd("{spec: {type: object, properties: {boxRef: {type: object, properties: {name: {type: string}}}}}}");
  const box = all.replaceAll("tabs", "boxes").replaceAll("Tab", "Box");
  const { page, wrong, close } = await started(`${all}---\n${box}`);
  await page.click(".views >> text=Graph");
  await page.waitForSelector(".graph-host svg .edge");
  assert.equal(await page.textContent(".edge text"), "boxRef");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(wrong, []);
  await close();
});

test("dark colours and a narrow screen have enough contrast and nothing beyond the edge", async () => {
  for (const options of [{ colorScheme: "dark" }, { viewport: { width: 360, height: 740 } }]) {
    const { page, wrong, close } = await started(widgets, options);
    await page.click(".row .name >> text=/^spec$/");
    await page.waitForSelector("[data-field-name]");
    assert.deepEqual(await violations(page), []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than the screen");
    await picture(page, options.colorScheme ?? "narrow");
    assert.deepEqual(wrong, []);
    await close();
  }
});

test("markup in names and descriptions is text", async () => {
  const evil = `<img src=x onerror=alert(1)>`;
  const text = crd(`{"${evil}": {type: string, description: "${evil}<script>alert(1)</script>", enum: ["${evil}"], default: "${evil}"}}`);
  const { page, wrong, close } = await started(text);
  page.on("dialog", () => wrong.push("a dialog"));
  await page.click(`.row .name >> text=onerror`);
  await page.waitForSelector("[data-field-name]");
  assert.ok((await page.textContent(".detail")).includes(evil));
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(wrong, []);
  await close();
});

test("stages of fields and descriptions in Markdown are shown", async () => {
  const description = "How large.\\n\\nDeprecated: use `b`, see https://example.com/x.\\n\\n- one\\n- two\\n\\n    code: 1";
  const { page, wrong, close } = await started(crd(`{size: {type: string, description: "${description}"}}`));
  await page.click(".row .name >> text=/^size$/");
  await page.waitForSelector("[data-field-lifecycle]");
  assert.match(await page.textContent("[data-field-lifecycle]"), /^Deprecated: use/);
  assert.equal(await page.textContent(".row[aria-selected=true] .badge.deprecated"), "deprecated");
  assert.equal(await page.getAttribute(".prose a", "href"), "https://example.com/x");
  assert.deepEqual(await page.locator(".prose li").allInnerTexts(), ["one", "two"]);
  assert.equal(await page.textContent(".prose pre"), "code: 1");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(wrong, []);
  await close();
});

test("100,000 fields, a depth of 100 and a description of 5 MB do not freeze the page", async (context) => {
  const many = Array.from({ length: 100_000 }, (_, at) => `f${at}: {type: string}`).join(", ");
  let deep = "{type: string}";
  for (let at = 0; at < 100; at++) deep = `{type: object, properties: {d: ${deep}}}`;
  const inputs = [
    ["many", crd(`{${many}}`)], ["deep", crd(`{d: ${deep}}`)],
    ["long", crd(`{size: {type: string, description: "${"word ".repeat(1_000_000)}"}}`)],
  ];
  for (const [name, text] of inputs) {
    const { page, wrong, close } = await open(browser, site.address);
    await page.waitForSelector(".hero");
    await page.evaluate(() => {
      globalThis.longest = 0;
      let last = performance.now();
      setInterval(() => { const now = performance.now(); globalThis.longest = Math.max(globalThis.longest, now - last); last = now; }, 20);
    });
    const began = Date.now();
    await add(page, [`${name}.yaml`, text]);
    await page.waitForSelector(".row", { timeout: 180_000 });
    context.diagnostic(`${name}: rows after ${Date.now() - began} ms`);
    const rows = await page.locator(".row").count();
    assert.ok(rows < 100, `${name}: ${rows} rows`);
    const longest = await page.evaluate(() => globalThis.longest);
    assert.ok(longest < 5_000, `${name}: the page did not answer for ${longest} ms`);
    await page.focus(".tree");
    await page.keyboard.press("End");
    await page.waitForSelector("[data-field-name]", { timeout: 180_000 });
    context.diagnostic(`${name}: a field after ${Date.now() - began} ms, at most ${Math.round(await page.evaluate(() => globalThis.longest))} ms without an answer`);
    assert.deepEqual(wrong, []);
    await close();
  }
});
