// Copies what the package shares with the rest of the repository: the WebAssembly of the explorer, and the licence.
import { copyFile } from "node:fs/promises";

const root = new URL("../../../", import.meta.url);
const here = (name) => new URL(name, import.meta.url);
await copyFile(new URL("describe/explorer/dist/kubeshape.wasm.gz", root), here("kubeshape.wasm.gz"));
await copyFile(new URL("LICENSE", root), here("LICENSE"));
