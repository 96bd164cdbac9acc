// A browser with the explorer in it, for tests: Debian's Chromium, a file server on a free port, and what must never happen.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";

export const root = new URL("../../../../", import.meta.url).pathname;
/** The command: KUBESHAPE_COMMAND, or the one that the tests built. */
export const command = process.env.KUBESHAPE_COMMAND ?? `${process.env.CARGO_TARGET_DIR ?? `${root}target`}/debug/kubeshape`;
export const noCommand = !existsSync(command) && "the command is not built";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };
export const dist = new URL("../../dist/", import.meta.url).pathname;

/** Serves folders; what the first does not have comes from the next. */
export function serve(...folders) {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://x").pathname).replace(/\/$/, "/index.html");
    const file = folders.map((folder) => join(folder, path)).find((file) => existsSync(file));
    if (!file) return response.writeHead(404).end();
    response.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" }).end(await readFile(file));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () =>
    resolve({ address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() })));
}

/** Runs `kubeshape serve` until it says where it is. */
export async function server(...inputs) {
  const child = spawn(command, ["serve", ...inputs, "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "ignore"] });
  let out = "";
  for await (const part of child.stdout) {
    out += part;
    const address = /serving on (http:\S+)/.exec(out)?.[1];
    if (address) return { address: `${address.replace(/\/$/, "")}/`, close: () => child.kill() };
  }
  throw new Error(`the server ended: ${out}`);
}

const program = process.env.KUBESHAPE_CHROMIUM ?? "/usr/bin/chromium";
export const launch = () => chromium.launch({ executablePath: program, args: ["--no-sandbox"] });

/** A page, with a list of what went wrong in it: errors, violations of its policy, requests to elsewhere. */
export async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("console", (message) => {
    const missing = message.location().url.endsWith("/data/index.json");
    if (message.type() === "error" && !missing) wrong.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(new URL("/", address).href)) wrong.push(`request: ${request.url()}`);
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(address);
  return { page, wrong, close: () => context.close() };
}

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds, in a line each. axe is injected through the debugger, which no policy of the page forbids. */
export async function violations(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).slice(0, 3).join(" ")}`);
}

/** Gives the page files, as a user does who chooses them. */
export const add = (page, ...files) => page.setInputFiles("input[type=file]", files.map(([name, text]) =>
  ({ name, mimeType: "text/yaml", buffer: Buffer.from(text) })));
