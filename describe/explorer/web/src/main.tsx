// The page: which kinds there are, which view of which of them is shown.
import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Compare } from "./compare";
import { Fields, type Source } from "./fields";
import { Graph } from "./graph";
import { Judge } from "./judge";
import { type Columns, type Detail, type Finding, type Kind, ask } from "./library";
import { Findings } from "./parts";
import { Shapes } from "./shapes";
import { EXAMPLE } from "./example";

const VIEWS = ["fields", "shapes", "judge", "compare", "graph"] as const;
type View = (typeof VIEWS)[number];
const TITLES: Record<View, string> = { fields: "Fields", shapes: "Shapes", judge: "Judge", compare: "Compare", graph: "Graph" };

/** The part of an address that says what is shown: `#/VIEW/API-VERSION/KIND/PATH`. */
type Place = { view: View; apiVersion: string; kind: string; path: string };

function read(): Place {
  const [, view, apiVersion = "", kind = "", ...path] = location.hash.slice(1).split("/").map((part) => {
    try { return decodeURIComponent(part); } catch { return part; }
  });
  return { view: VIEWS.find((name) => name === view) ?? "fields", apiVersion, kind, path: path.join("/") };
}

const written = ({ view, apiVersion, kind, path }: Place) =>
  "#/" + [view, apiVersion, kind, ...(path ? [path] : [])].map(encodeURIComponent).join("/");

type Index = {
  kinds: Kind[]; inputs: { name: string; file: string }[];
  /** Where a server has the list of its kinds, instead of this one. */
  served?: string;
};

const index = (name: string): Promise<Index> => fetch(new URL(`data/${name}`, import.meta.url))
  .then((response) => (response.ok ? response.json() : undefined)).catch(() => undefined)
  .then((found?: Index) => found ?? { kinds: [], inputs: [] });

/** What a site or a server has prepared: kinds and their fields. Without one, all of it comes from the worker. */
const site: Promise<Index> = index("index.json").then((found) => (found.served ? index(found.served) : found));

const prepared = new Map<string, Promise<unknown>>();
const given = new Map<string, Promise<void>>();

/** Reads a file of the site, or a document of the server. */
const file = async (name: string) => {
  const response = await fetch(new URL(`data/${name}`, import.meta.url), { headers: { Accept: "application/json, */*" } });
  if (!response.ok) throw new Error(`${new URL(response.url).pathname}: ${response.status} ${response.statusText}`);
  return response;
};

const prepare = <T,>(name: string) => {
  const found = prepared.get(name) ?? file(name).then((response) => response.json());
  prepared.set(name, found);
  // What failed is asked again.
  found.catch(() => prepared.delete(name));
  return found as Promise<T>;
};

/** Gives the worker the input of a kind, if it comes from a site or a server. */
async function ready(kind: Kind) {
  const { inputs } = await site;
  const input = inputs.find((input) => input.name === kind.input);
  if (!input) return;
  const set = async () => ask<void>("set", input.name, new Uint8Array(await (await file(input.file)).arrayBuffer()));
  const known = given.get(input.name) ?? set();
  given.set(input.name, known);
  known.catch(() => given.delete(input.name));
  await known;
}

async function all(kind: Kind) {
  const { inputs, kinds } = await site;
  const most = 100;
  if (inputs.some(({ name }) => name === kind.input) && inputs.length <= most) await Promise.all(kinds.map(ready));
  else await ready(kind);
}

const source: Source = {
  columns: async (kind) => {
    if (kind.file) return prepare<Columns>(`${kind.file}.json`);
    await ready(kind);
    return ask("tree", kind.apiVersion, kind.kind);
  },
  detail: async (kind, index) => {
    if (kind.file) return (await prepare<Detail[]>(`${kind.file}-fields.json`))[index]!;
    await ready(kind);
    return ask("field", kind.apiVersion, kind.kind, index);
  },
};

function useTheme() {
  const [theme, setTheme] = useState(() => localStorage.getItem("theme") ?? "");
  useEffect(() => {
    if (theme) { document.documentElement.dataset.theme = theme; localStorage.setItem("theme", theme); }
  }, [theme]);
  const isDark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return { isDark, toggle: () => setTheme(isDark ? "light" : "dark") };
}

function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M16 2 28 9v14L16 30 4 23V9z" /><path d="M16 16 28 9M16 16v14M16 16 4 9" />
    </svg>
  );
}

/** Kinds that the first view lists. The others follow when it is there. */
const FIRST_KINDS = 100;

function Kinds({ kinds, place, onKind }: { kinds: Kind[]; place: Place; onKind: (kind: Kind) => void }) {
  const [query, setQuery] = useState("");
  const [isComplete, setComplete] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setComplete(true), 300);
    return () => clearTimeout(timer);
  }, []);
  const groups = useMemo(() => {
    const words = query.toLowerCase();
    const out = new Map<string, Kind[]>();
    for (const kind of isComplete || words ? kinds : kinds.slice(0, FIRST_KINDS)) {
      const names = [kind.kind, kind.apiVersion, kind.plural ?? "", ...(kind.shortNames ?? [])];
      if (words && !names.some((name) => name.toLowerCase().includes(words))) continue;
      const group = kind.group || "core";
      const members = out.get(group) ?? [];
      members.push(kind);
      out.set(group, members);
    }
    return [...out].sort(([a], [b]) => (a < b ? -1 : 1));
  }, [kinds, query, isComplete]);
  return (
    <nav class="kinds" aria-label="Kinds">
      {kinds.length > 8 && <input type="search" aria-label="Filter kinds" placeholder={`Filter ${kinds.length} kinds`} value={query}
        onInput={(event) => setQuery(event.currentTarget.value)} />}
      {groups.length === 0 && <p class="muted">No kind is called “{query}”.</p>}
      {groups.map(([group, members]) => (
        <section key={group}>
          <h2>{group}</h2>
          <ul>{members.map((kind) => {
            const isShown = kind.apiVersion === place.apiVersion && kind.kind === place.kind;
            return (
              <li key={kind.apiVersion + kind.kind}>
                <button type="button" aria-current={isShown ? "page" : undefined} onClick={() => onKind(kind)}>
                  <span>{kind.kind}</span>
                  <span class={`version ${kind.deprecated ? "deprecated" : ""}`}>{kind.version}{kind.served === false && ", not served"}</span>
                </button>
              </li>
            );
          })}</ul>
        </section>
      ))}
    </nav>
  );
}

function App() {
  const [kinds, setKinds] = useState<Kind[]>();
  const [findings, setFindings] = useState<Finding[]>([]);
  const [place, setPlace] = useState(read);
  const [dragged, setDragged] = useState(false);
  const [busy, setBusy] = useState("");
  const [menu, setMenu] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const { isDark, toggle } = useTheme();

  const go = (to: Partial<Place>) => {
    const next = { ...read(), ...to };
    if (written(next) !== location.hash) location.hash = written(next);
    setPlace(next);
  };
  const show = (found: Kind[]) => {
    setKinds(found);
    const now = read();
    const first = found.find((kind) => kind.storage) ?? found[0];
    if (first && !found.some((kind) => kind.apiVersion === now.apiVersion && kind.kind === now.kind)) {
      go({ apiVersion: first.apiVersion, kind: first.kind, path: "" });
    }
  };
  const add = async (files: { name: string; bytes: () => Promise<Uint8Array> }[]) => {
    if (files.length === 0) return;
    setBusy(files.length === 1 ? `Reading ${files[0]!.name}…` : `Reading ${files.length} files…`);
    try {
      const found: Finding[] = [];
      const names = new Set(files.map(({ name }) => name));
      names.forEach((name) => given.delete(name));
      for (const { name, bytes } of files) found.push(...(await ask<Finding[]>("set", name, await bytes())));
      // Kinds of the site are shown as it has prepared them.
      const added = (await ask<Kind[]>("kinds")).filter(({ input }) => !given.has(input));
      const old = (await site).kinds.filter((kind) => !added.some((one) => one.apiVersion === kind.apiVersion && one.kind === kind.kind));
      setFindings(found);
      const next = [...added, ...old];
      const own = added.filter((kind) => names.has(kind.input));
      const first = own.find((kind) => kind.storage) ?? own[0];
      if (first) go({ apiVersion: first.apiVersion, kind: first.kind, path: "" });
      show(next);
    } catch (error) {
      setFindings([{ code: "", kind: "error", text: String(error), help: "", line: null, column: null, pointer: null }]);
    }
    setBusy("");
  };
  const pick = (list: FileList | null | undefined) =>
    add([...(list ?? [])].map((one) => ({ name: one.name, bytes: async () => new Uint8Array(await one.arrayBuffer()) })));
  const paste = (text: string) => add([{ name: "pasted.yaml", bytes: async () => new TextEncoder().encode(text) }]);

  useEffect(() => {
    site.then(({ kinds }) => {
      const now = read();
      const is = (kind: Kind) => kind.apiVersion === now.apiVersion && kind.kind === now.kind;
      const first = kinds.find(is) ?? kinds.find((kind) => kind.storage) ?? kinds[0];
      // Its fields load while the page is made.
      if (first?.file) source.columns(first).catch(() => undefined);
      show(kinds);
    });
    const hash = () => setPlace(read());
    addEventListener("hashchange", hash);
    return () => removeEventListener("hashchange", hash);
  }, []);
  useEffect(() => {
    const over = (event: DragEvent) => { event.preventDefault(); setDragged(true); };
    const out = (event: DragEvent) => { if (!event.relatedTarget) setDragged(false); };
    const drop = (event: DragEvent) => { event.preventDefault(); setDragged(false); void pick(event.dataTransfer?.files); };
    const pasted = (event: ClipboardEvent) => {
      const target = event.composedPath()[0] as HTMLElement;
      if (target.isContentEditable || /^(INPUT|TEXTAREA)$/.test(target.tagName)) return;
      const text = event.clipboardData?.getData("text/plain");
      if (text?.includes("\n")) void paste(text);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", out);
    addEventListener("drop", drop);
    addEventListener("paste", pasted);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", out);
      removeEventListener("drop", drop);
      removeEventListener("paste", pasted);
    };
  }, []);
  const kind = kinds?.find((one) => one.apiVersion === place.apiVersion && one.kind === place.kind);
  useEffect(() => { document.title = kind ? `${kind.kind} · kubeshape explorer` : "kubeshape explorer"; }, [kind]);

  const isEmpty = kinds?.length === 0;
  return (
    <>
      <header class="top">
        <a class="brand" href="#/" aria-label="kubeshape explorer"><Logo /><span>kubeshape</span></a>
        {!isEmpty && (
          <nav class="views" aria-label="Views">
            {VIEWS.map((view) => (
              <a href={written({ ...place, view })} aria-current={place.view === view ? "page" : undefined}>{TITLES[view]}</a>
            ))}
          </nav>
        )}
        <div class="actions">
          {!isEmpty && <button type="button" class="menu" aria-expanded={menu} onClick={() => setMenu(!menu)}>{kind?.kind ?? "Kinds"}</button>}
          <button type="button" onClick={() => picker.current?.click()}>Add files</button>
          <button type="button" class="icon" aria-label={isDark ? "Light colours" : "Dark colours"} onClick={toggle}>{isDark ? "☀" : "☾"}</button>
          <input ref={picker} type="file" multiple hidden aria-label="Files" accept=".yaml,.yml,.json,.pb,.gz"
            onChange={(event) => { void pick(event.currentTarget.files); event.currentTarget.value = ""; }} />
        </div>
      </header>
      <div class={`body ${menu ? "menu-open" : ""}`}>
        {!isEmpty && kinds && <Kinds kinds={kinds} place={place}
          onKind={(one) => { setMenu(false); go({ apiVersion: one.apiVersion, kind: one.kind, path: "" }); }} />}
        <main>
          {!isEmpty && <h1 class="hidden">{kind ? `${kind.kind}, ${kind.apiVersion}` : "Kinds"}</h1>}
          {findings.length > 0 && (
            <details class="banner" open>
              <summary>{findings.length === 1 ? "Something is wrong with the input" : `${findings.length} remarks about the inputs`}</summary>
              <Findings all={findings.slice(0, 50)} />
            </details>
          )}
          {isEmpty ? (
            <div class="hero">
              <Logo />
              <h1>See what Kubernetes makes of an API</h1>
              <p>Drop a CustomResourceDefinition, a manifest or an OpenAPI document here, or paste one. Nothing leaves this page.</p>
              <div class="hero-actions">
                <button type="button" class="primary" onClick={() => picker.current?.click()}>Choose files</button>
                <button type="button" onClick={() => paste(EXAMPLE)}>Try an example</button>
              </div>
              <ul>
                <li><strong>Fields</strong> with defaults, bounds, rules and what they cost</li>
                <li><strong>Shapes</strong> side by side, and what each of them loses</li>
                <li><strong>Verdicts</strong> on objects and on changes, release by release</li>
              </ul>
            </div>
          ) : !kinds || !kind ? <div class="loading" role="status">Reading…</div>
            : place.view === "fields" ? <Fields kind={kind} path={place.path} source={source} ready={ready} onPath={(path) => go({ path })} />
            : place.view === "shapes" ? <Shapes kind={kind} path={place.path} ready={ready} />
            : place.view === "judge" ? <Judge kind={kind} ready={ready} />
            : place.view === "compare" ? <Compare kind={kind} ready={ready} onPath={(path) => go({ view: "fields", path })} />
            : <Graph kind={kind} all={all} />}
        </main>
      </div>
      {busy && <div class="busy" role="status">{busy}</div>}
      {dragged && <div class="drop" aria-hidden="true"><span>Drop files to read them</span></div>}
    </>
  );
}

render(<App />, document.getElementById("app")!);
