// What a change of a definition does.
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Change, type Columns, type Compared, type Kind, type Shape, ask } from "./library";
import { Code, Empty, Findings, Page, Pane, useAnswer, useRest } from "./parts";
import { ROW, Tree, parents } from "./tree";

const CLASSES = ["cosmetic", "compatible", "risky", "breaking"];

/** The changed fields in the tree of the new definition. A field that is gone marks the one that had it. */
function Changes({ kind, text, changes, onPath }: { kind: Kind; text: string; changes: Change[]; onPath: (path: string) => void }) {
  const { value: columns } = useAnswer(() => ask<Columns>("treeOf", text, kind.apiVersion, kind.kind), [kind, text]);
  const [selected, setSelected] = useState(-1);
  const classes = useMemo(() => {
    const out = new Map<number, string>();
    const indexes = new Map(columns?.paths?.map((path, index) => [path, index]));
    for (const { field, class: name, version } of changes) {
      if (!field || (version && version !== kind.version)) continue;
      let path = field;
      while (path && !indexes.has(path)) path = path.replace(/(\.[^.]*|\["[^"]*"\]|\[\]|\{\})$/, "");
      const index = indexes.get(path);
      if (index !== undefined && CLASSES.indexOf(name) > CLASSES.indexOf(out.get(index) ?? "")) out.set(index, name);
    }
    return out;
  }, [columns, changes]);
  const found = useMemo(() => new Set(classes.keys()), [classes]);
  const rows = useMemo(() => {
    if (!columns?.paths) return 0;
    const up = parents(columns), all = new Set<number>();
    for (const index of found) for (let at = index; at >= 0 && !all.has(at); at = up[at]!) all.add(at);
    return all.size;
  }, [columns, found]);
  if (!columns?.paths || found.size === 0) return null;
  return (
    <>
      <h3>Where</h3>
      <div class="changed-tree" style={{ height: `${Math.min(rows, 9) * ROW + 2}px` }}>
        <Tree columns={columns} selected={selected} found={found} classes={classes}
          onSelect={(index) => { setSelected(index); }} />
      </div>
      {selected >= 0 && <p><button type="button" class="link" onClick={() => onPath(columns.paths[selected]!)}>
        Show <code>{columns.paths[selected]}</code> in Fields</button></p>}
    </>
  );
}

function One({ change, onPath, onLine }: { change: Change; onPath: (path: string) => void; onLine: (line: number) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <li class={`change ${change.class}`}>
      <div class="finding-head">
        <span class="dot" aria-hidden="true" /><span class="kind-of">{change.class}</span>
        {change.path && <button type="button" class="link" onClick={() => onPath(change.field)}><code>{change.path}</code></button>}
        {change.newLine !== null && <button type="button" class="link" onClick={() => onLine(change.newLine!)}>line {change.newLine}</button>}
        <Code code={change.code} open={open} onToggle={() => setOpen(!open)} />
      </div>
      <p>{change.title} {change.detail}</p>
      <p class="small">{change.effects.map(([who, what]) => <span class={`effect ${what}`}>{who}: {what}</span>)}</p>
      {open && <div class="page"><Page code={change.code} /></div>}
      {change.witness && <details><summary>An object that shows it: {change.witness.outcome}</summary>
        {change.witness.errors.map((text) => <p class="muted">{text}</p>)}
        <pre tabIndex={0}><code>{change.witness.text}</code></pre></details>}
    </li>
  );
}

export function Compare({ kind, ready, onPath }: { kind: Kind; ready: (kind: Kind) => Promise<void>; onPath: (path: string) => void }) {
  const [old, setOld] = useState("");
  const [now, setNow] = useState("");
  const [line, setLine] = useState<{ at: number } | null>(null);
  useEffect(() => {
    let gone = false;
    ready(kind).then(() => ask<Shape>("shape", kind.apiVersion, kind.kind, "source")).then(({ text }) => {
      if (!gone && text) { setOld(text); setNow(text); }
    });
    return () => { gone = true; };
  }, [kind]);
  const a = useRest(old, 400), b = useRest(now, 400);
  const { value, error, busy } = useAnswer(async () => (a.trim() && b.trim() ? ask<Compared>("compare", a, b) : undefined), [a, b]);
  return (
    <div class="compare">
      <div class="halves">
        <section aria-label="Old definition"><div class="shape-head"><strong>Old</strong></div>
          <Pane text={old} label="Old definition" onChange={setOld} /></section>
        <section aria-label="New definition"><div class="shape-head"><strong>New</strong><span class="muted small">edit or paste it here</span></div>
          <Pane text={now} label="New definition" onChange={setNow} line={line} /></section>
      </div>
      <section class="verdicts" aria-label="Changes" aria-live="polite" aria-busy={busy}>
        {error && <p class="card loss">{error}</p>}
        <Findings all={value?.findings ?? []} />
        {value?.definitions.length === 0 && <Empty title="No definitions"><p>Paste a CustomResourceDefinition on both sides.</p></Empty>}
        {value?.definitions.map((definition) => (
          <div class="compared">
            <div class="verdict">
              <h2>{definition.name}</h2>
              <span class={`pill ${definition.class === "breaking" ? "bad" : definition.class === "risky" ? "warn" : "good"}`}>
                {definition.error ?? (definition.gone ? "gone" : definition.new ? "new" : definition.class === "same" ? "nothing changed" : definition.class)}
              </span>
              {definition.counts?.filter(([, count]) => count > 0).map(([name, count]) => <span class="muted small">{count} {name}</span>)}
            </div>
            {definition.name === kind.definition && <Changes kind={kind} text={b} changes={definition.changes} onPath={onPath} />}
            <ul class="changes">
              {definition.changes.map((change) => (
                <One change={change} onPath={onPath} onLine={(at) => setLine({ at })} />
              ))}
            </ul>
            {definition.plan && !definition.plan.error && definition.plan.steps.length > 0 && definition.class !== "same" && (
              <>
                <h3>The way there</h3>
                {definition.plan.refused.map((text) => <p class="card loss">Applied at once, a server refuses it: {text}</p>)}
                <ol class="steps">
                  {definition.plan.steps.map((step) => (
                    <li><strong>{step.title}</strong><p>{step.why}</p>
                      {step.commands.length > 0 && <pre tabIndex={0}><code>{step.commands.join("\n")}</code></pre>}</li>
                  ))}
                </ol>
              </>
            )}
          </div>
        ))}
      </section>
    </div>
  );
}
