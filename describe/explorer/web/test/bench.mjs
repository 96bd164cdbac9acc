// Sizes and times of the explorer: `node bench.mjs FOLDER-OF-CRDS`. It fails if the first view is too large or too slow.
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { command, launch, serve, server } from "./browser.mjs";

const [MOST_BYTES, MOST_MS, ROUNDS] = [400_000, 500, 9];
/** The files without which nothing is shown. The worker, the WebAssembly and the editor are loaded by what needs them. */
const FIRST = ["index.html", "app.css", "app.js"];
const size = async (file) => gzipSync(await readFile(file), { level: 9 }).length;
const kb = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

/** Measures from the request to the painted tree. Returns whether it is fast, and without what is not needed. */
async function firstView(browser, address, what, needless) {
  const times = [];
  let loaded = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const context = await browser.newContext({ viewport: { width: 1360, height: 860 } });
    const page = await context.newPage();
    await page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        if (!document.querySelector(".row")) return;
        observer.disconnect();
        // The frame after this one has been painted.
        requestAnimationFrame(() => requestAnimationFrame(() => { globalThis.shownAt = performance.now(); }));
      }).observe(document, { childList: true, subtree: true });
    });
    const names = [];
    page.on("request", (request) => names.push(request.url()));
    await page.goto(address);
    times.push(await page.waitForFunction(() => globalThis.shownAt, undefined, { timeout: 120_000 }).then((value) => value.jsonValue()));
    loaded = Math.max(loaded, names.filter((name) => needless.test(name)).length);
    await context.close();
  }
  times.sort((a, b) => a - b);
  const [best, median] = [times[0], times[Math.floor(ROUNDS / 2)]];
  console.log(`first view of ${what} after ${best.toFixed(0)} ms (best of ${ROUNDS}; median ${median.toFixed(0)}; at most ${MOST_MS})`);
  if (loaded) console.log(`the first view of ${what} loads what it does not need`);
  return best <= MOST_MS && !loaded;
}

const folder = await mkdtemp(join(tmpdir(), "kubeshape-bench-"));
let isGood = true;
try {
  const began = performance.now();
  execFileSync(command, ["explore", process.argv[2], "-o", folder, "--quiet"], { stdio: ["ignore", "ignore", "inherit"] });
  const { kinds, inputs } = JSON.parse(await readFile(join(folder, "data/index.json"), "utf8"));
  console.log(`${kinds.length} kinds of ${inputs.length} files, written in ${((performance.now() - began) / 1000).toFixed(1)} s`);

  let first = 0;
  for (const name of FIRST) first += await size(join(folder, name));
  const data = await size(join(folder, "data/index.json"));
  console.log(`first view, gzip: ${kb(first)}, and ${kb(data)} for the list of kinds (at most ${kb(MOST_BYTES)} together)`);
  isGood &&= first + data <= MOST_BYTES;
  for (const name of (await readdir(folder)).filter((name) => !FIRST.includes(name) && name !== "data")) {
    const file = join(folder, name);
    console.log(`later: ${name}, ${kb(name.endsWith(".gz") ? (await stat(file)).size : await size(file))}`);
  }

  const [browser, site] = await Promise.all([launch(), serve(folder)]);
  // The page about a kind says which releases install it, which the library finds out when the tree is there.
  isGood = (await firstView(browser, site.address, "a written site", /editor\.js/)) && isGood;
  site.close();
  const running = await server(process.argv[2]);
  try {
    isGood = (await firstView(browser, running.address, "`kubeshape serve`", /wasm|worker\.js|editor\.js/)) && isGood;
  } finally {
    running.close();
  }
  await browser.close();
} finally {
  await rm(folder, { recursive: true });
}
process.exitCode = isGood ? 0 : 1;
