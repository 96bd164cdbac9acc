// The library in the worker, and what it answers. Nothing here decides anything about Kubernetes.

export type Kind = {
  apiVersion: string; group: string; version: string; kind: string; plural: string | null;
  shortNames: string[] | null; scope: string | null; served: boolean | null; storage: boolean | null;
  deprecated: boolean; isCustomResource: boolean; definition: string; input: string; line: number | null;
  /** Where a site has the tree and the fields of the kind: the beginning of the names of two files. */
  file?: string;
};
export type Finding = {
  code: string; kind: string; text: string; help: string; line: number | null; column: number | null;
  pointer: string | null; notes?: string[]; releases?: string[]; span?: [number, number] | null; endColumn?: number;
};
export type Columns = {
  error?: string; marksOf: string[]; depths: number[]; names: string[]; types: string[]; marks: number[];
  defaults: (string | null)[]; paths: string[];
};
export type Cost = { each: number; times: number; total: number; limit: number; share: number; bounded: boolean };
export type Rule = {
  /** What the rule is about, if it is not the field itself: each item of it. */
  about: string;
  /** What the rule demands, in English; null if it has no sure words. */
  words: string | null;
  rule: string | null; message: string | null; messageExpression: string | null; reason: string | null; cost: Cost | null;
};
export type Detail = {
  error?: string; path: string; pointer: string; type: string; required: boolean; description: string;
  facts: [string, string][]; merge: string | null; losses: string[]; lifecycle: string | null;
  declared: { pointer: string; input: string; line: number | null; column: number | null } | null;
  copies: Record<string, string>; rules: Rule[]; said: Finding[];
};
export type Definition = {
  name: string; verdict: string; accepted: boolean; findings: Finding[];
  releases: { release: string; accepted: boolean; errors: number; warnings: number }[];
};
export type Checked = { error?: string; definitions: Definition[]; findings: Finding[] };
export type Judged = {
  error?: string; findings: Finding[];
  objects: {
    name: string; judged: boolean; accepted?: boolean; strict?: boolean; stored?: string; lines?: [string, string][];
  }[];
};
export type Applied = {
  error?: string; text?: string; manager?: string;
  owners?: { manager: string; operation: string; paths: string[] }[];
  conflicts?: { manager: string; path: string; message: string; line: number | null }[];
};
export type Change = {
  code: string; title: string; class: string; version: string; path: string; field: string; detail: string;
  effects: [string, string][]; oldLine: number | null; newLine: number | null;
  witness?: { text: string; outcome: string; errors: string[] }; noWitness?: string;
};
export type Compared = {
  findings: Finding[];
  definitions: {
    name: string; class?: string; error?: string; gone?: boolean; new?: boolean; counts?: [string, number][];
    changes: Change[];
    plan?: { error?: string; refused: string[]; safe: boolean; steps: { title: string; why: string; commands: string[] }[] };
  }[];
};
export type Shape = { error?: string; text?: string; findings?: Finding[] };
export type Picture = { error?: string; svg?: string; nodes: string[]; references: number };

type Waiting = { resolve: (value: never) => void; reject: (error: Error) => void };

let worker: Worker | undefined;
let next = 0;
const waiting = new Map<number, Waiting>();

export function ask<T>(method: string, ...values: unknown[]): Promise<T> {
  if (!worker) {
    worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<{ id: number; value: never; error?: string }>) => {
      const found = waiting.get(data.id);
      waiting.delete(data.id);
      if (data.error === undefined) found?.resolve(data.value);
      else found?.reject(new Error(data.error));
    });
    worker.addEventListener("error", (event) => {
      waiting.forEach(({ reject }) => reject(new Error(event.message || "the worker cannot be started")));
      waiting.clear();
    });
  }
  const id = next++;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve: resolve as Waiting["resolve"], reject });
    worker!.postMessage({ id, method, values });
  });
}
