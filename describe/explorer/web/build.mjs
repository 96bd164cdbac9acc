// Builds the application into a folder: `node build.mjs FOLDER`. `cargo xtask explorer` makes the WebAssembly first and runs it.
import { build } from "esbuild";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const folder = process.argv[2];
const shared = { bundle: true, minify: true, format: "esm", target: "es2022", charset: "utf8", legalComments: "none" };
await mkdir(folder, { recursive: true });
await build({
  ...shared,
  entryPoints: { app: "src/main.tsx", worker: "src/worker.ts", editor: "src/editor.ts" },
  external: ["./editor.js"],
  jsx: "automatic",
  jsxImportSource: "preact",
  outdir: folder,
});
await build({ entryPoints: ["src/app.css"], minify: true, bundle: true, target: "es2022", outdir: folder });
// The npm package has the same WebAssembly, and calls it through this file.
await build({ ...shared, entryPoints: ["generated/kubeshape.js"], outfile: "../../../kubeshape/js/npm/glue.js" });
await copyFile("src/index.html", `${folder}/index.html`);

// As rustc made it: wasm-opt makes the module 13 % smaller, but what is left compresses worse, and the file is larger.
await writeFile(`${folder}/kubeshape.wasm.gz`, gzipSync(await readFile("generated/kubeshape_bg.wasm"), { level: 9 }));
