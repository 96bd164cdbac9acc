/** What a server and its worlds have in common. */
interface Objects {
  /** The address: `http://127.0.0.1:40123`. */
  readonly url: string;
  /** The kubeconfig as an object. */
  config(): object;
  /** Writes a kubeconfig for programs, and returns its path. The file exists as long as the server. */
  kubeconfig(): Promise<string>;
  /** Keeps the current objects. Returns the number of the state, for `restore` and `world`. */
  snapshot(): Promise<number>;
  /** Returns to a state. The state 0 is the one with which the server or the world began. */
  restore(snapshot: number): Promise<void>;
  /** The time of a manual clock. */
  now(): Promise<Date>;
  /** Moves a manual clock. */
  advance(seconds: number): Promise<void>;
  /** Ends it. Further calls do nothing. */
  stop(): Promise<void>;
}

export interface Options {
  /** Files and folders with CustomResourceDefinitions. */
  definitions?: string[];
  /** A file or folder with the first objects. */
  objects?: string;
  /** The release whose API and rules are served, such as `1.36`. */
  kubernetes?: string;
  /** Stops the clock: it moves with `advance` only. */
  manualClock?: boolean;
  /** Further options of `kubeshape serve`. */
  options?: string[];
  /** The program; without it, the variable KUBESHAPE names it, or it is found in PATH. */
  program?: string;
  /** Milliseconds until the server is ready; a minute without it. */
  timeout?: number;
}

/** An API server in a process of its own: `kubeshape serve --objects`. */
export class ApiServer implements Objects, AsyncDisposable {
  /** Starts a server, and waits until it is ready. */
  static start(options?: Options): Promise<ApiServer>;
  readonly url: string;
  config(): object;
  kubeconfig(): Promise<string>;
  snapshot(): Promise<number>;
  restore(snapshot: number): Promise<void>;
  now(): Promise<Date>;
  advance(seconds: number): Promise<void>;
  /**
   * Makes a world: the objects of a kept state, or without one those with which the server began, at a port of their own
   * in the same process. Cases that run at the same time have one each.
   */
  world(snapshot?: number): Promise<World>;
  /** The end of what the server has logged. */
  log(): string;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Objects of their own in the process of a server. `ApiServer.world` makes one. */
export class World implements Objects, AsyncDisposable {
  private constructor();
  /** The name: `w1`. */
  readonly name: string;
  readonly url: string;
  config(): object;
  kubeconfig(): Promise<string>;
  snapshot(): Promise<number>;
  restore(snapshot: number): Promise<void>;
  now(): Promise<Date>;
  advance(seconds: number): Promise<void>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
