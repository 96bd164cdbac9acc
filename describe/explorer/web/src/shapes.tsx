// Shapes side by side. The selected field is marked in both.
import { useEffect, useState } from "preact/hooks";
import { type Finding, type Kind, type Shape, ask } from "./library";
import { Findings, Pane, useAnswer } from "./parts";

const SHAPES: [string, string][] = [
  ["source", "Definition"], ["v3", "OpenAPI v3"], ["v2", "OpenAPI v2"], ["smd", "Server-side apply"],
  ["json-schema", "JSON Schema"], ["kustomize", "kustomize"], ["structural", "Structural schema"],
];

const NOTHING: Finding[] = [];

/** Findings at the lines of the definition alone: an input may have others before it. */
const within = (kind: Kind, findings: Finding[]) =>
  findings.filter(({ line }) => line !== null).map((finding) => ({ ...finding, line: finding.line! - (kind.line ?? 1) + 1 }));

function One({ kind, shape, path, onShape, ready, label, onLosses, lost, line, onLine }: {
  kind: Kind; shape: string; path: string; onShape: (shape: string) => void; ready: (kind: Kind) => Promise<void>; label: string;
  /** What this shape loses, for the other pane. */
  onLosses: (losses: Finding[]) => void;
  /** What the other shape loses: it is marked in the definition. */
  lost: Finding[]; line: { at: number } | null; onLine?: (line: number) => void;
}) {
  const { value, error } = useAnswer(async () => {
    await ready(kind);
    return ask<Shape>("shape", kind.apiVersion, kind.kind, shape);
  }, [kind, shape]);
  const text = value?.text ?? "";
  const { value: range } = useAnswer(async () => {
    if (!text || !path) return null;
    return ask<[number, number] | null>("locate", kind.apiVersion, kind.kind, shape, text, path);
  }, [kind, shape, text, path]);
  const losses = value?.findings ?? NOTHING;
  useEffect(() => onLosses(within(kind, losses)), [losses]);
  return (
    <section class="shape" aria-label={label}>
      <div class="shape-head">
        <select aria-label={label} value={shape} onChange={(event) => onShape(event.currentTarget.value)}>
          {SHAPES.map(([name, title]) => <option value={name}>{title}</option>)}
        </select>
        <span class={`pill ${losses.length ? "warn" : "good"}`}>
          {error ?? value?.error ?? (losses.length === 0 ? "nothing lost" : losses.length === 1 ? "1 loss" : `${losses.length} losses`)}
        </span>
        {path && text && range === null && <span class="muted small">has no {path}</span>}
      </div>
      <Pane text={text} label={`${label}: ${shape}`} readOnly range={range ?? null} marked={shape === "source" ? lost : NOTHING} line={line} />
      {losses.length > 0 && <details class="losses"><summary>What it loses</summary><Findings all={within(kind, losses)} onLine={onLine} /></details>}
    </section>
  );
}

export function Shapes({ kind, path, ready }: { kind: Kind; path: string; ready: (kind: Kind) => Promise<void> }) {
  const [shapes, setShapes] = useState(["source", "v2"]);
  const [losses, setLosses] = useState<Finding[][]>([[], []]);
  const [line, setLine] = useState<{ at: number } | null>(null);
  const pane = (own: 0 | 1, label: string) => {
    const other = own === 0 ? 1 : 0;
    const isSource = (at: number) => shapes[at] === "source";
    return (
      <One kind={kind} shape={shapes[own]!} path={path} ready={ready} label={label}
        onShape={(shape) => { setLine(null); setShapes((before) => before.map((old, at) => (at === own ? shape : old))); }}
        onLosses={(found) => setLosses((before) => before.map((old, at) => (at === own ? found : old)))}
        lost={losses[other]!} line={isSource(own) ? line : null}
        onLine={isSource(other) ? (at) => setLine({ at }) : undefined} />
    );
  };
  return (
    <div class="shapes">
      <p class="hint muted">{path ? <>Marked: <code>{path}</code>.</> : "Choose a field in the view Fields, and it is marked here."} The
        definition shows the lines that the other shape loses.</p>
      <div class="halves">{pane(0, "Left shape")}{pane(1, "Right shape")}</div>
    </div>
  );
}
