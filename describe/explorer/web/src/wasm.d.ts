// What wasm-bindgen writes next to the module.
declare module "*/kubeshape.js" {
  export class Session {
    constructor();
    set(name: string, text: Uint8Array): string;
    remove(name: string): void;
    text(name: string): string;
    [method: string]: (...values: never[]) => string | void;
  }
  export default function init(options: { module_or_path: URL | ArrayBuffer }): Promise<unknown>;
}
