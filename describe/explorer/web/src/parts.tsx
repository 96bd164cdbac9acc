// Small parts that several views have.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Editor, Mark, Options } from "./editor";
import { type Finding, ask } from "./library";

const loaded = () => import("./editor.js" as string) as Promise<typeof import("./editor")>;

type Block = { text: string } | { heading: string } | { items: string[] } | { code: string };

/** The blocks of a description in Markdown: paragraphs, headings, lists, and code that is indented or fenced. */
export function blocks(text: string): Block[] {
  const out: Block[] = [];
  const lines = text.split("\n");
  let open: { lines: string[] } | undefined, items: { items: string[] } | undefined;
  const close = () => { open = items = undefined; };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!, words = line.trim();
    const item = /^[-*] +(.*)$/.exec(words)?.[1];
    if (words.startsWith("```")) {
      close();
      const code: string[] = [];
      while (++at < lines.length && !lines[at]!.trim().startsWith("```")) code.push(lines[at]!);
      out.push({ code: code.join("\n") });
    } else if (words === "") {
      close();
    } else if (item !== undefined) {
      if (!items) { close(); items = { items: [] }; out.push(items); }
      items.items.push(item);
    } else if (items) {
      items.items.push(`${items.items.pop()} ${words}`);
    } else if (!open && /^(    |\t)/.test(line)) {
      const code = [line];
      while (at + 1 < lines.length && /^(    |\t|\s*$)/.test(lines[at + 1]!)) code.push(lines[++at]!);
      const indent = Math.min(...code.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length));
      out.push({ code: code.map((line) => line.slice(indent)).join("\n").trimEnd() });
    } else if (/^#{1,6} /.test(words)) {
      close();
      out.push({ heading: words.replace(/^#+ +/, "") });
    } else if (open) {
      open.lines.push(words);
    } else {
      const lines = [words];
      open = { lines };
      out.push({ get text() { return lines.join("\n"); } });
    }
  }
  return out;
}

/** A line of a description: code between backticks, and addresses. */
function Line({ text }: { text: string }) {
  return (
    <>{text.split(/(`[^`\n]+`|https?:\/\/[^\s<>"'`{}[\]|\\^()]*[^\s<>"'`{}[\]|\\^().,;:!?*_])/).map((piece, at) =>
      at % 2 === 0 ? piece
        : piece.startsWith("`") ? <code>{piece.slice(1, -1)}</code>
        : <a href={piece} target="_blank" rel="nofollow noopener noreferrer">{piece}</a>)}</>
  );
}

/** Longer descriptions are cut: a browser lays out the whole of a paragraph at once. */
const LONGEST = 200_000;

/** A description in Markdown. Nothing in it is markup of the page. */
export function Text({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const isLong = text.length > LONGEST && !all;
  const shown = useMemo(() => blocks(isLong ? text.slice(0, LONGEST) : text), [text, isLong]);
  return (
    <div class="prose">
      {shown.map((block) =>
        "text" in block ? <p><Line text={block.text} /></p>
          : "heading" in block ? <p><strong><Line text={block.heading} /></strong></p>
          : "items" in block ? <ul class="bullets">{block.items.map((item) => <li><Line text={item} /></li>)}</ul>
          : <pre tabIndex={0}><code>{block.code}</code></pre>)}
      {isLong && <button type="button" onClick={() => setAll(true)}>Show all {new Intl.NumberFormat("en").format(text.length)} characters</button>}
    </div>
  );
}

/** The page of a code, when it is wanted. */
export function Page({ code }: { code: string }) {
  const { value } = useAnswer(() => ask<string | null>("page", code), [code]);
  return value ? <Text text={value} /> : null;
}

/** A code that leads to its page. */
export function Code({ code, onToggle, open }: { code: string; open: boolean; onToggle: () => void }) {
  if (!/^KS\d{4}$/.test(code)) return <span class="code">{code}</span>;
  return <button type="button" class="link code" aria-expanded={open} title={`What ${code} means`} onClick={onToggle}>{code}</button>;
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return <div class="empty"><h2>{title}</h2>{children}</div>;
}

export function Copy({ name, text }: { name: string; text: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text).catch(() => undefined);
    setDone(true);
    setTimeout(() => setDone(false), 1200);
  };
  return (
    <button type="button" class="copy" onClick={copy} title={text}>
      <span class="copy-name">{done ? "Copied" : name}</span><code>{text}</code>
    </button>
  );
}

const severity = (finding: Finding): Mark["severity"] =>
  finding.kind === "error" ? "error" : finding.kind === "warning" ? "warning" : "info";

/** A pane with an editor. `marked` are findings at their lines, `range` is a part that is marked and scrolled to. */
export function Pane(props: Options & { marked?: Finding[]; range?: [number, number] | null; line?: { at: number } | null }) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const [ready, setReady] = useState(false);
  const change = useRef(props.onChange);
  change.current = props.onChange;
  useEffect(() => {
    let gone = false;
    loaded().then(({ create }) => {
      if (gone || !host.current) return;
      editor.current = create(host.current, { ...props, onChange: (text) => change.current?.(text) });
      setReady(true);
    });
    return () => { gone = true; editor.current?.destroy(); };
  }, []);
  useEffect(() => { if (ready) editor.current?.set(props.text); }, [props.text, ready]);
  useEffect(() => {
    if (!ready) return;
    const marks = (props.marked ?? []).filter((finding) => finding.line).map((finding): Mark => ({
      line: finding.line!, column: finding.column, endColumn: finding.endColumn, severity: severity(finding), message: finding.text,
    }));
    editor.current?.mark(marks);
  }, [props.marked, ready]);
  useEffect(() => { if (ready && props.range !== undefined) editor.current?.show(props.range); }, [props.range, props.text, ready]);
  useEffect(() => { if (ready && props.line) editor.current?.go(props.line.at); }, [props.line, ready]);
  return <div class="pane" ref={host} />;
}

function One({ finding, onLine }: { finding: Finding; onLine?: (line: number) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <li class={`finding ${severity(finding)}`}>
      <div class="finding-head">
        <span class="dot" aria-hidden="true" />
        <span class="kind-of">{finding.kind}</span>
        {finding.line !== null && (onLine
          ? <button type="button" class="link" onClick={() => onLine(finding.line!)}>line {finding.line}</button>
          : <span class="muted">line {finding.line}</span>)}
        <Code code={finding.code} open={open} onToggle={() => setOpen(!open)} />
      </div>
      <p>{finding.text}</p>
      {finding.notes?.map((note) => <p class="muted">{note}</p>)}
      {finding.help && <details><summary>What to do</summary><p>{finding.help}</p></details>}
      {open && <div class="page"><Page code={finding.code} /></div>}
    </li>
  );
}

export function Findings({ all, onLine }: { all: Finding[]; onLine?: (line: number) => void }) {
  return <ul class="findings">{all.map((finding) => <One finding={finding} onLine={onLine} />)}</ul>;
}

/** The value of a promise, asked again when what it depends on changes. The last value stays until then. */
export function useAnswer<T>(question: () => Promise<T> | undefined, on: unknown[]): { value?: T; error?: string; busy: boolean } {
  const [state, setState] = useState<{ value?: T; error?: string; busy: boolean }>({ busy: true });
  useEffect(() => {
    let gone = false;
    setState((before) => ({ ...before, busy: true }));
    question()?.then(
      (value) => { if (!gone) setState({ value, busy: false }); },
      (error: Error) => { if (!gone) setState({ error: error.message, busy: false }); },
    );
    return () => { gone = true; };
  }, on);
  return state;
}

/** A value that changes only when it rests. */
export function useRest<T>(value: T, milliseconds = 250): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
