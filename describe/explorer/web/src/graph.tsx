// References as a picture that the library draws.
import { useEffect, useRef, useState } from "preact/hooks";
import { type Kind, type Picture, ask } from "./library";
import { Empty, useAnswer } from "./parts";

export function Graph({ kind, all }: { kind: Kind; all: (kind: Kind) => Promise<void> }) {
  const [around, setAround] = useState("");
  const [zoom, setZoom] = useState(1);
  const host = useRef<HTMLDivElement>(null);
  const { value, error, busy } = useAnswer(async () => {
    await all(kind);
    return ask<Picture>("graph", kind.isCustomResource ? "" : kind.input, around);
  }, [kind, around]);
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    element.replaceChildren();
    if (!value?.svg) return;
    // The page's own style sheet has the rules of the picture, and its policy permits no others.
    const plain = value.svg.replace(/<style>[^<]*<\/style>/, "");
    const svg = new DOMParser().parseFromString(plain, "image/svg+xml").documentElement;
    element.append(document.importNode(svg, true));
    for (const node of element.querySelectorAll<SVGGElement>(".node")) {
      const name = node.querySelector("title")?.textContent ?? "";
      node.addEventListener("click", () => setAround((before) => (before === name ? "" : name)));
    }
  }, [value]);
  useEffect(() => {
    const svg = host.current?.querySelector("svg");
    const box = svg?.getAttribute("viewBox")?.split(" ").map(Number);
    if (svg && box) { svg.setAttribute("width", String(box[2]! * zoom)); svg.setAttribute("height", String(box[3]! * zoom)); }
  }, [zoom, value]);
  const save = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([value?.svg ?? ""], { type: "image/svg+xml" }));
    link.download = "graph.svg";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  return (
    <div class="graph">
      <div class="shape-head">
        <label class="release">Around
          <select value={around} onChange={(event) => setAround(event.currentTarget.value)}>
            <option value="">everything</option>
            {(value?.nodes ?? []).map((name) => <option value={name}>{name}</option>)}
          </select>
        </label>
        <button type="button" aria-label="Smaller" onClick={() => setZoom(Math.max(0.2, zoom / 1.25))}>−</button>
        <button type="button" aria-label="Larger" onClick={() => setZoom(Math.min(4, zoom * 1.25))}>+</button>
        <button type="button" disabled={!value?.svg} onClick={save}>Save SVG</button>
        <span class="muted small" role="status">{value && !value.error && `${value.nodes.length} nodes, ${value.references} references`}</span>
      </div>
      {(error ?? value?.error) ? <Empty title="The graph is too large"><p>{error ?? value?.error}. Choose a node to draw what is around it.</p></Empty>
        : <div class="graph-host" ref={host} tabIndex={0} aria-label="Graph" role="region" aria-busy={busy} />}
    </div>
  );
}
