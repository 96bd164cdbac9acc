/** The newest release of Kubernetes whose rules are known. */
export const NEWEST: string;

/** A kind that an input defines. */
export interface Kind {
  apiVersion: string; group: string; version: string; kind: string; plural: string | null;
  shortNames: string[] | null; scope: string | null; served: boolean | null; storage: boolean | null;
  deprecated: boolean; subresources: string[] | null; isCustomResource: boolean;
  definition: string; input: string; line: number | null;
}

/** A finding at its location. Lines and columns count from 1. */
export interface Finding {
  code: string; kind: string; text: string; help: string; line: number | null; column: number | null;
  pointer: string | null; notes?: string[]; releases?: string[]; span: [number, number] | null;
}

/** The fields of a kind in columns: a field is the same index in each of them. Parents come before their fields. */
export interface Tree {
  error?: string; marksOf: string[]; depths: number[]; names: string[]; types: string[];
  /** Bits in the order of `marksOf`. */
  marks: number[];
  defaults: (string | null)[]; paths: string[];
}

/** The estimated cost of a rule. */
export interface Cost { each: number; times: number; total: number; limit: number; share: number; bounded: boolean }

/** A CEL rule. `about` is `each item` or `each value` if the rule is not about the field itself. */
export interface Rule {
  about: string; rule: string | null; message: string | null; messageExpression: string | null;
  reason: string | null; cost: Cost | null;
}

/** Everything that is known of a field. */
export interface Field {
  error?: string; path: string; pointer: string; type: string; required: boolean; description: string;
  facts: [string, string][]; merge: string | null; losses: string[]; lifecycle: string | null;
  declared: { pointer: string; input: string; line: number | null; column: number | null } | null;
  copies: Record<string, string>; rules: Rule[]; said: Finding[];
}

/** What releases say of a definition. */
export interface Definition {
  name: string; verdict: string; accepted: boolean; findings: Finding[];
  releases: { release: string; accepted: boolean; errors: number; warnings: number }[];
}

export interface Checked { error?: string; definitions: Definition[]; findings: Finding[] }

/** What a release does with objects. */
export interface Judged {
  error?: string; findings: Finding[];
  objects: {
    name: string; apiVersion: string; kind: string; judged: boolean; accepted?: boolean; strict?: boolean;
    /** The stored object as YAML. */
    stored?: string;
    /** The lines of the object and of the stored object: `-`, `+` or a blank, and the line. */
    lines?: [string, string][];
  }[];
}

/** An object after two managers applied to it. */
export interface Applied {
  error?: string; text?: string; manager?: string;
  owners?: { manager: string; operation: string; paths: string[] }[];
  conflicts?: { manager: string; path: string; message: string; line: number | null }[];
}

export interface Change {
  code: string; title: string; class: "breaking" | "risky" | "compatible" | "cosmetic"; version: string; path: string;
  field: string; detail: string; effects: [string, string][]; oldLine: number | null; newLine: number | null;
  witness?: { text: string; outcome: string; errors: string[] }; noWitness?: string;
}

export interface Compared {
  findings: Finding[];
  definitions: {
    name: string; class?: string; error?: string; gone?: boolean; new?: boolean; counts?: [string, number][];
    changes: Change[];
    plan?: { error?: string; refused: string[]; safe: boolean; steps: { title: string; why: string; commands: string[] }[] };
  }[];
}

export type Shape = "source" | "v3" | "v2" | "smd" | "json-schema" | "kustomize" | "structural";

/** Inputs, and queries about their kinds. */
export class Session {
  constructor();
  /** Adds an input, in place of the one with that name. Returns what is wrong with it. */
  set(name: string, text: string | Uint8Array): Finding[];
  remove(name: string): void;
  text(name: string): string;
  /** All kinds of the inputs. */
  kinds(): Kind[];
  tree(apiVersion: string, kind: string): Tree;
  /** The fields of a kind as another text defines it. */
  treeOf(text: string, apiVersion: string, kind: string): Tree;
  /** `index` is that in the columns of `tree`. */
  field(apiVersion: string, kind: string, index: number): Field;
  /** The indexes of the fields with all words in their names or descriptions. */
  search(apiVersion: string, kind: string, words: string): number[];
  /** The page of a code, such as `KS3110`, in Markdown. */
  page(code: string): string | null;
  shape(apiVersion: string, kind: string, shape: Shape): { error?: string; text?: string; findings?: Finding[] };
  /** Where the text of a shape has a field, in units of UTF-16. */
  locate(apiVersion: string, kind: string, shape: Shape, text: string, path: string): [number, number] | null;
  /** Which releases install the definitions of an input: `1.34`, `1.28..1.37` or `all`. */
  check(name: string, releases?: string): Checked;
  /** What a release does with the objects of a string of YAML or JSON. */
  judge(name: string, text: string, release?: string): Judged;
  /** An object that a server accepts, with the required fields or with all. */
  sample(apiVersion: string, kind: string, all?: boolean): { error?: string; text?: string; problems?: string[] };
  apply(manager: string, config: string, other: string, second: string, force?: boolean): Applied;
  /** How a change of definitions affects users. */
  compare(old: string, now: string): Compared;
  graph(input?: string, around?: string): { error?: string; svg?: string; nodes: string[]; references: number };
  /** Gives the memory of the session back. It cannot be used afterwards. */
  free(): void;
}
