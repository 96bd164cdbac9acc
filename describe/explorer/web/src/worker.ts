// Asks the library, away from the page: whatever an input is, the page answers keys and clicks meanwhile.
import init, { Session } from "../generated/kubeshape.js";

type Question = { id: number; method: string; values: unknown[] };

let session: Promise<Session> | undefined;

const start = async () => {
  // It is compressed in the program too, so no server has to compress it.
  const { body } = await fetch(new URL("kubeshape.wasm.gz", self.location.href));
  const module = await new Response(body!.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  await init({ module_or_path: module });
  return new Session();
};

const call = async ({ id, method, values }: Question) => {
  try {
    session ??= start();
    const target = (await session) as unknown as Record<string, (...values: unknown[]) => string | undefined>;
    const text = target[method]!(...values);
    self.postMessage({ id, value: text === undefined || method === "text" ? text : JSON.parse(text) });
  } catch (error) {
    self.postMessage({ id, error: String(error) });
  }
};

// One question after the other, in their order.
let last = Promise.resolve();
self.addEventListener("message", (event: MessageEvent<Question>) => {
  last = last.then(() => call(event.data));
});
