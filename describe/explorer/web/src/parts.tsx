// Small parts that several views have.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Editor, Mark, Options } from "./editor";
import type { Finding } from "./library";

const loaded = () => import("./editor.js" as string) as Promise<typeof import("./editor")>;

/** Description text: paragraphs, and code between backticks. */
export function Text({ text }: { text: string }) {
  const paragraphs = text.split(/\n{2,}/).filter((part) => part.trim() !== "");
  return (
    <div class="prose">
      {paragraphs.map((part) => (
        <p>{part.split(/(`[^`\n]+`)/).map((piece) =>
          piece.length > 2 && piece.startsWith("`") && piece.endsWith("`") ? <code>{piece.slice(1, -1)}</code> : piece)}</p>
      ))}
    </div>
  );
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

export function Findings({ all, onLine }: { all: Finding[]; onLine?: (line: number) => void }) {
  return (
    <ul class="findings">
      {all.map((finding) => (
        <li class={`finding ${severity(finding)}`}>
          <div class="finding-head">
            <span class="dot" aria-hidden="true" />
            <span class="kind-of">{finding.kind}</span>
            {finding.line !== null && (onLine
              ? <button type="button" class="link" onClick={() => onLine(finding.line!)}>line {finding.line}</button>
              : <span class="muted">line {finding.line}</span>)}
            <span class="code">{finding.code}</span>
          </div>
          <p>{finding.text}</p>
          {finding.notes?.map((note) => <p class="muted">{note}</p>)}
          {finding.help && <details><summary>What to do</summary><p>{finding.help}</p></details>}
        </li>
      ))}
    </ul>
  );
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
