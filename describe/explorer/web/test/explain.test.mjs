// The page says of a field what `kubeshape explain -o json` says. It needs the command: KUBESHAPE_COMMAND, or the one that the tests built.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { add, dist, launch, open, serve } from "./browser.mjs";

const root = new URL("../../../../", import.meta.url).pathname;
const command = process.env.KUBESHAPE_COMMAND ?? `${process.env.CARGO_TARGET_DIR ?? `${root}target`}/debug/kubeshape`;
/** How many fields are read of one definition; they are spread over it. */
const MOST = Number(process.env.KUBESHAPE_ALL ? 2_000 : 40);
const own = ["docs/demo/widgets.yaml", "kubeshape/examples/crds/tabs.yaml"].map((path) => root + path);
const corpus = process.env.KUBESHAPE_CORPUS && process.env.KUBESHAPE_CORPUS_CRDS?.split(",").map((path) => `${process.env.KUBESHAPE_CORPUS}/${path}`);

test("the text of fields equals that of explain", { skip: !existsSync(command) && "the command is not built" }, async () => {
  const [browser, site] = await Promise.all([launch(), serve(dist)]);
  for (const file of [...own, ...(corpus || [])]) {
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
      }));
      const plain = (text) => text.replace(/[`\s]+/g, "");
      assert.equal(shown.type, field.type, field.path);
      assert.equal(shown.required, field.required, field.path);
      assert.equal(plain(shown.description), plain(field.description), field.path);
      const facts = field.facts.filter(({ name }) => name !== "rule").map(({ name, value }) => [name, value]);
      assert.deepEqual(shown.facts.filter(([name]) => name !== "rule"), facts, field.path);
      for (const { value } of field.facts.filter(({ name }) => name === "rule")) {
        assert.ok(shown.rules.some((rule) => value.startsWith(rule)), `${field.path}: ${value}`);
      }
    }
    await close();
  }
  await browser.close();
  site.close();
});
