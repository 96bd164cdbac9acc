// What a server makes of objects.
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Applied, type Judged, type Kind, ask } from "./library";
import { Empty, Findings, Pane, useAnswer, useRest } from "./parts";

const RELEASES = ["1.37", "1.36", "1.35", "1.34", "1.33", "1.32", "1.31", "1.30", "1.29", "1.28"];

export function Lines({ lines }: { lines: [string, string][] }) {
  return (
    <pre class="lines" tabIndex={0} aria-label="Stored object">
      {lines.map(([mark, line]) => (
        <div class={mark === "+" ? "added" : mark === "-" ? "removed" : "same"}>
          <span class="sign">{mark}</span>{line || " "}
        </div>
      ))}
    </pre>
  );
}

export function Judge({ kind, ready }: { kind: Kind; ready: (kind: Kind) => Promise<void> }) {
  const [two, setTwo] = useState(false);
  return (
    <div class="judge">
      <div class="segments" role="group" aria-label="What to judge">
        <button type="button" aria-pressed={!two} onClick={() => setTwo(false)}>One object</button>
        <button type="button" aria-pressed={two} onClick={() => setTwo(true)}>Two managers</button>
      </div>
      {two ? <Managers kind={kind} ready={ready} /> : <One kind={kind} ready={ready} />}
    </div>
  );
}

function useSample(kind: Kind, ready: (kind: Kind) => Promise<void>, set: (text: string) => void) {
  const sample = async (maximal: boolean) => {
    await ready(kind);
    const made = await ask<{ text?: string }>("sample", kind.apiVersion, kind.kind, maximal);
    set(made.text ?? `apiVersion: ${kind.apiVersion}\nkind: ${kind.kind}\nmetadata:\n  name: example\n`);
  };
  useEffect(() => void sample(false), [kind]);
  return sample;
}

function One({ kind, ready }: { kind: Kind; ready: (kind: Kind) => Promise<void> }) {
  const [text, setText] = useState("");
  const [release, setRelease] = useState(RELEASES[0]!);
  const [line, setLine] = useState<{ at: number } | null>(null);
  const sample = useSample(kind, ready, setText);
  const rested = useRest(text);
  const { value, error } = useAnswer(async () => {
    if (!rested.trim()) return undefined;
    await ready(kind);
    return ask<Judged>("judge", "object.yaml", rested, release);
  }, [kind, rested, release]);
  const findings = value?.findings ?? [];
  return (
    <div class="halves">
      <section aria-label="Object">
        <div class="shape-head">
          <button type="button" onClick={() => sample(false)}>Smallest sample</button>
          <button type="button" onClick={() => sample(true)}>Every field</button>
          <label class="release">Kubernetes
            <select value={release} onChange={(event) => setRelease(event.currentTarget.value)}>
              {RELEASES.map((one) => <option>{one}</option>)}
            </select>
          </label>
        </div>
        <Pane text={text} label="Object to judge" onChange={setText} marked={findings} line={line} />
      </section>
      <section class="verdicts" aria-label="Verdict" aria-live="polite">
        {error && <p class="card loss">{error}</p>}
        {value?.error && <p class="card loss">{value.error}</p>}
        {!value && <Empty title="Paste an object"><p class="muted">It is judged as you type.</p></Empty>}
        {value?.objects.map((object) => (
          <div class="verdict">
            <h2>{object.name}</h2>
            {!object.judged ? <span class="pill warn">not judged</span>
              : !object.accepted ? <span class="pill bad">refused</span>
              : object.strict ? <span class="pill good">accepted</span>
              : <span class="pill warn">accepted, with fields that are dropped</span>}
          </div>
        ))}
        <Findings all={findings} onLine={(at) => setLine({ at })} />
        {value?.objects.map((object) => object.lines && object.judged && (
          <div class="stored">
            <h3>What is stored</h3>
            <p class="muted small">Added by defaults: +. Dropped, because the schema does not have it: −.</p>
            <Lines lines={object.lines} />
          </div>
        ))}
      </section>
    </div>
  );
}

function Managers({ kind, ready }: { kind: Kind; ready: (kind: Kind) => Promise<void> }) {
  const [first, setFirst] = useState("");
  const [second, setSecond] = useState("");
  const [force, setForce] = useState(false);
  useSample(kind, ready, (text) => { setFirst(text); setSecond(text); });
  const a = useRest(first), b = useRest(second);
  const { value, error } = useAnswer(async () => {
    if (!a.trim() || !b.trim()) return undefined;
    await ready(kind);
    return ask<Applied>("apply", "alice", a, "bob", b, force);
  }, [kind, a, b, force]);
  const owners = useMemo(() => {
    const rows = new Map<string, string[]>();
    for (const owner of value?.owners ?? []) for (const path of owner.paths) rows.set(path, [...(rows.get(path) ?? []), owner.manager]);
    return [...rows].sort(([x], [y]) => (x < y ? -1 : 1));
  }, [value]);
  return (
    <div class="managers">
      <div class="halves">
        <section aria-label="alice"><div class="shape-head"><strong class="owner alice">alice</strong><span class="muted small">applies first</span></div>
          <Pane text={first} label="Configuration of alice" onChange={setFirst} /></section>
        <section aria-label="bob"><div class="shape-head"><strong class="owner bob">bob</strong><span class="muted small">applies after her</span>
          <label class="release"><input type="checkbox" checked={force} onChange={(event) => setForce(event.currentTarget.checked)} /> force conflicts</label></div>
          <Pane text={second} label="Configuration of bob" onChange={setSecond} /></section>
      </div>
      <section class="verdicts" aria-label="Owners" aria-live="polite">
        {(error ?? value?.error) && <p class="card loss">{value?.manager && <strong>{value.manager}: </strong>}{error ?? value?.error}</p>}
        {value?.conflicts?.map((conflict) => <p class="card loss"><code>{conflict.path}</code> is owned by {conflict.manager}</p>)}
        {owners.length > 0 && (
          <table class="owners">
            <caption>Who owns what</caption>
            <thead><tr><th scope="col">Field</th><th scope="col">Managers</th></tr></thead>
            <tbody>{owners.map(([path, names]) => (
              <tr><td><code>{path}</code></td><td>{names.map((name) => <span class={`owner ${name}`}>{name}</span>)}</td></tr>
            ))}</tbody>
          </table>
        )}
      </section>
    </div>
  );
}
