// An API server for tests: `kubeshape serve --objects` in a process of its own, and its worlds.
import { spawn } from "node:child_process";
import { access, constants, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { createInterface } from "node:readline";

const READY = "serving on ";
/** How much of the log an error shows. */
const MOST_LOG = 64 << 10;
/** How long the server has to stop, in milliseconds. */
const GRACE = 5000;

/** What a server and its worlds have in common. */
class Objects {
  constructor(url) {
    this.url = url;
  }

  /** The kubeconfig as an object. */
  config() {
    return {
      apiVersion: "v1", kind: "Config", "current-context": "kubeshape",
      // Without TLS there is nothing to verify, and `@kubernetes/client-node` wants to be told.
      clusters: [{ name: "kubeshape", cluster: { server: this.url, "insecure-skip-tls-verify": true } }],
      users: [{ name: "kubeshape", user: {} }],
      contexts: [{ name: "kubeshape", context: { cluster: "kubeshape", user: "kubeshape", namespace: "default" } }],
    };
  }

  async snapshot() {
    return (await this.control("POST", "snapshot")).snapshot;
  }

  async restore(snapshot) {
    await this.control("POST", "restore", { snapshot });
  }

  async now() {
    return new Date((await this.control("GET", "clock")).now);
  }

  async advance(seconds) {
    await this.control("POST", "clock", { advanceSeconds: seconds });
  }

  async control(method, name, body) {
    const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
    const answer = await fetch(`${this.url}/kubeshape/${name}`, { method, ...sent });
    const made = await answer.json();
    if (!answer.ok) throw new Error(`${name} of the server: ${made.message}`);
    return made;
  }
}

/** The program: the one that is named, or the first in PATH that is not the command of this package. */
async function find(program = process.env.KUBESHAPE) {
  if (program) return resolve(program);
  const name = process.platform === "win32" ? "kubeshape.exe" : "kubeshape";
  // That of the package has no server.
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder) && !/[\\/]node_modules[\\/]/.test(folder));
  for (const folder of folders) {
    const path = join(folder, name);
    if (await access(path, constants.X_OK).then(() => true, () => false)) return path;
  }
  throw new Error("kubeshape is not in PATH: install it, or name it with `program` or the variable KUBESHAPE");
}

export class ApiServer extends Objects {
  #process;
  #ended;
  #folder;
  #log = "";

  /** Starts a server, and waits until it is ready. */
  static async start({ definitions = [], objects, kubernetes, manualClock = false, options = [], program, timeout = 60_000 } = {}) {
    const path = await find(program);
    const server = new ApiServer("");
    server.#folder = await mkdtemp(join(tmpdir(), "kubeshape-"));
    const args = ["serve", "--listen", "127.0.0.1:0", "--log-level", "error", "--extensions", "on"];
    args.push("--objects", objects ?? server.#folder);
    if (kubernetes) args.push("--kubernetes", kubernetes);
    if (manualClock) args.push("--clock", "manual");
    const child = spawn(path, [...args, ...options, ...definitions], { stdio: ["ignore", "pipe", "pipe"] });
    server.#process = child;
    server.#ended = new Promise((end) => {
      child.on("error", (error) => {
        server.#log += `${error.message}\n`;
        end();
      });
      child.on("close", () => end());
    });
    child.stderr.setEncoding("utf8").on("data", (text) => { server.#log = (server.#log + text).slice(-MOST_LOG); });
    const lines = createInterface({ input: child.stdout });
    const ready = new Promise((found) => lines.on("line", (line) => line.startsWith(READY) && found(line.slice(READY.length).trim())));
    let timer;
    const late = new Promise((end) => { timer = setTimeout(() => end(), timeout); });
    try {
      const url = await Promise.race([ready, server.#ended, late]);
      if (!url) throw new Error(`kubeshape serve does not start:\n${server.#log}`);
      server.url = url;
      const answer = await fetch(`${url}/readyz?verbose`);
      const text = await answer.text();
      if (!answer.ok) throw new Error(`kubeshape serve does not serve everything:\n${server.#log}${text}`);
    } catch (error) {
      await server.stop();
      throw error;
    } finally {
      clearTimeout(timer);
    }
    return server;
  }

  /** Makes a world that begins with a kept state; without one, with the objects with which the server began. */
  async world(snapshot = 0) {
    const { world, url } = await this.control("POST", "worlds", { snapshot });
    return new World(this, world, url);
  }

  /** Writes a kubeconfig for programs, and returns its path. The file exists as long as the server. */
  async kubeconfig(of = this, name = "kubeconfig") {
    const path = join(this.#folder, name);
    await writeFile(path, JSON.stringify(of.config()));
    return path;
  }

  /** The end of what the server has logged. */
  log() {
    return this.#log;
  }

  /** Stops the server, and ends its worlds. Further calls do nothing. */
  async stop() {
    if (this.#process?.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill("SIGTERM");
      // Clients may keep their connections.
      const timer = setTimeout(() => this.#process.kill("SIGKILL"), GRACE);
      await this.#ended;
      clearTimeout(timer);
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.stop();
  }
}

export class World extends Objects {
  #server;

  constructor(server, name, url) {
    super(url);
    this.#server = server;
    this.name = name;
  }

  /** Writes a kubeconfig for programs, and returns its path. The file exists as long as the server. */
  async kubeconfig() {
    return this.#server.kubeconfig(this, `kubeconfig-${this.name}`);
  }

  /** Ends the world. Further calls do nothing. */
  async stop() {
    const server = this.#server;
    this.#server = undefined;
    await server?.control("DELETE", `worlds/${this.name}`);
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.stop();
  }
}
