// Shapes side by side. The selected field is marked in both.
import { useState } from "preact/hooks";
import { type Kind, type Shape, ask } from "./library";
import { Findings, Pane, useAnswer } from "./parts";

const SHAPES: [string, string][] = [
  ["source", "Definition"], ["v3", "OpenAPI v3"], ["v2", "OpenAPI v2"], ["smd", "Server-side apply"],
  ["json-schema", "JSON Schema"], ["structural", "Structural schema"],
];

function One({ kind, shape, path, onShape, ready, label }: {
  kind: Kind; shape: string; path: string; onShape: (shape: string) => void; ready: (kind: Kind) => Promise<void>; label: string;
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
  const losses = value?.findings ?? [];
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
      <Pane text={text} label={`${label}: ${shape}`} readOnly range={range ?? null} />
      {losses.length > 0 && <details class="losses"><summary>What it loses</summary><Findings all={losses} /></details>}
    </section>
  );
}

export function Shapes({ kind, path, ready }: { kind: Kind; path: string; ready: (kind: Kind) => Promise<void> }) {
  const [left, setLeft] = useState("source");
  const [right, setRight] = useState("v2");
  return (
    <div class="shapes">
      <p class="hint muted">{path ? <>Marked: <code>{path}</code></> : "Choose a field in the view Fields, and it is marked here."}</p>
      <div class="halves">
        <One kind={kind} shape={left} path={path} onShape={setLeft} ready={ready} label="Left shape" />
        <One kind={kind} shape={right} path={path} onShape={setRight} ready={ready} label="Right shape" />
      </div>
    </div>
  );
}
