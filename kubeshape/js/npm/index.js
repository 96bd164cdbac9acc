// The session of kubeshape in Node. All results come from the library; this file only reads its JSON.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Session as Inner, initSync } from "./glue.js";

/** The newest release of Kubernetes whose rules are known. */
export const NEWEST = "1.37";

const bytes = (text) => (typeof text === "string" ? new TextEncoder().encode(text) : text);

let isReady = false;
function start() {
  if (isReady) return;
  initSync({ module: gunzipSync(readFileSync(new URL("kubeshape.wasm.gz", import.meta.url))) });
  isReady = true;
}

/** Inputs, and queries about their kinds. */
export class Session {
  #inner;

  constructor() {
    start();
    this.#inner = new Inner();
  }

  set(name, text) { return JSON.parse(this.#inner.set(name, bytes(text))); }
  remove(name) { this.#inner.remove(name); }
  text(name) { return this.#inner.text(name); }
  kinds() { return JSON.parse(this.#inner.kinds()); }
  tree(apiVersion, kind) { return JSON.parse(this.#inner.tree(apiVersion, kind)); }
  treeOf(text, apiVersion, kind) { return JSON.parse(this.#inner.treeOf(text, apiVersion, kind)); }
  field(apiVersion, kind, index) { return JSON.parse(this.#inner.field(apiVersion, kind, index)); }
  search(apiVersion, kind, words) { return JSON.parse(this.#inner.search(apiVersion, kind, words)); }
  page(code) { return JSON.parse(this.#inner.page(code)); }
  shape(apiVersion, kind, shape) { return JSON.parse(this.#inner.shape(apiVersion, kind, shape)); }
  locate(apiVersion, kind, shape, text, path) { return JSON.parse(this.#inner.locate(apiVersion, kind, shape, text, path)); }
  check(name, releases = NEWEST) { return JSON.parse(this.#inner.check(name, releases)); }
  judge(name, text, release = NEWEST) { return JSON.parse(this.#inner.judge(name, text, release)); }
  sample(apiVersion, kind, all = false) { return JSON.parse(this.#inner.sample(apiVersion, kind, all)); }
  apply(manager, config, other, second, force = false) {
    return JSON.parse(this.#inner.apply(manager, config, other, second, force));
  }
  compare(old, now) { return JSON.parse(this.#inner.compare(old, now)); }
  graph(input = "", around = "") { return JSON.parse(this.#inner.graph(input, around)); }
  /** Gives the memory of the session back. It cannot be used afterwards. */
  free() { this.#inner.free(); }
}
