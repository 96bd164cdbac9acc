// The view of fields: search, tree, and all about the selected field.
import { useEffect, useRef, useState } from "preact/hooks";
import { type Checked, type Columns, type Detail, type Kind, ask } from "./library";
import { Code, Copy, Empty, Findings, Page, Text, useAnswer, useRest } from "./parts";
import { Tree } from "./tree";

const number = new Intl.NumberFormat("en");

function Bar({ share }: { share: number }) {
  const width = Math.min(100, share > 0 ? Math.max(1.5, share * 100) : 0);
  const level = share > 1 ? "over" : share > 0.5 ? "high" : "low";
  return <div class={`bar ${level}`} aria-hidden="true"><div style={{ width: `${width}%` }} /></div>;
}

function percent(share: number) {
  const value = share * 100;
  return value >= 10 ? `${number.format(Math.round(value))} %` : value >= 0.01 ? `${value.toFixed(2)} %` : "less than 0.01 %";
}

/** A loss in words, whose code leads to its page. */
function Loss({ text }: { text: string }) {
  const [open, setOpen] = useState(false);
  const [, words = text, code = ""] = /^(.*) \((KS\d{4})\)$/s.exec(text) ?? [];
  return (
    <li class="card loss">
      {words} {code && <Code code={code} open={open} onToggle={() => setOpen(!open)} />}
      {open && <div class="page"><Page code={code} /></div>}
    </li>
  );
}

export function FieldDetail({ detail, onPath }: { detail: Detail; onPath: (path: string) => void }) {
  const steps = detail.path.split(/(?=\.)/);
  const name = steps[steps.length - 1]?.replace(/^\./, "") ?? "";
  return (
    <article class="detail" aria-label={`Field ${detail.path}`}>
      <nav class="crumbs" aria-label="Path">
        {steps.map((step, at) => at + 1 < steps.length
          ? <button type="button" class="link" onClick={() => onPath(steps.slice(0, at + 1).join("").replace(/(\[\]|\{\})+$/, ""))}>{step}</button>
          : <span aria-current="page">{step}</span>)}
      </nav>
      <header>
        <h2 data-field-name>{name}</h2>
        <span class="type-chip" data-field-type>{detail.type}</span>
        {detail.required && <span class="badge required">required</span>}
      </header>
      {detail.lifecycle && <p class="card loss" data-field-lifecycle>{detail.lifecycle}</p>}
      <div data-field-description>
        {detail.description ? <Text text={detail.description} /> : <p class="muted">The definition has no description of this field.</p>}
      </div>
      {detail.rules.length > 0 && (
        <section>
          <h3>Rules</h3>
          {detail.rules.map((rule) => (
            <div class="card rule">
              {rule.about && <p class="muted small">For {rule.about}</p>}
              {rule.words && <div data-rule-words><Text text={rule.words} /></div>}
              <pre><code>{rule.rule}</code></pre>
              {(rule.message ?? rule.messageExpression) && <p><span class="muted">Message:</span> {rule.message ?? <code>{rule.messageExpression}</code>}</p>}
              {rule.cost && (
                <>
                  <Bar share={rule.cost.share} />
                  <p class="muted small">
                    Estimated cost {number.format(rule.cost.total)}: {percent(rule.cost.share)} of what a rule may cost
                    {rule.cost.times > 1 && `; ${number.format(rule.cost.each)} each, up to ${number.format(rule.cost.times)} times`}
                    {!rule.cost.bounded && ", because no bound limits a list or map around it"}
                  </p>
                </>
              )}
            </div>
          ))}
        </section>
      )}
      {detail.facts.length > 0 && (
        <section>
          <h3>Schema</h3>
          <dl class="facts">
            {detail.facts.filter(([fact]) => !/^rule( in words)?$/.test(fact) || detail.rules.length === 0).map(([fact, text]) => (
              <div data-fact={fact}><dt>{fact}</dt><dd>{text}</dd></div>
            ))}
          </dl>
        </section>
      )}
      {detail.merge && (
        <section><h3>Server-side apply</h3><p class="card merge">{detail.merge}</p></section>
      )}
      {detail.said.length > 0 && <section><h3>What servers and kubeshape say</h3><Findings all={detail.said} /></section>}
      {detail.losses.length > 0 && (
        <section><h3>Lost in OpenAPI v2</h3><ul class="plain">{detail.losses.map((loss) => <Loss key={detail.path + loss} text={loss} />)}</ul></section>
      )}
      <section>
        <h3>Copy the path</h3>
        <div class="copies">
          <Copy name="Path" text={detail.path} />
          {Object.entries(detail.copies).map(([language, text]) => <Copy name={language} text={text} />)}
        </div>
      </section>
      {detail.declared && (
        <p class="muted small">Declared in {detail.declared.input}{detail.declared.line !== null && `, line ${detail.declared.line}`}</p>
      )}
    </article>
  );
}

/** What there is to know of a kind: its names, and which releases install its definition. */
function Overview({ kind, ready }: { kind: Kind; ready: (kind: Kind) => Promise<void> }) {
  const { value } = useAnswer(async () => {
    if (!kind.isCustomResource) return undefined;
    await ready(kind);
    return ask<Checked>("check", kind.input, "all");
  }, [kind]);
  const checked = value?.definitions?.find((one) => one.name === kind.definition);
  const names: [string, string][] = [
    ["apiVersion", kind.apiVersion], ["resource", kind.plural ?? ""], ["short names", kind.shortNames?.join(", ") ?? ""],
    ["scope", kind.scope?.toLowerCase() ?? ""], ["defined in", kind.input],
  ];
  return (
    <article class="detail" aria-label={kind.kind}>
      <header><h2>{kind.kind}</h2><span class="type-chip">{kind.version}</span>
        {kind.storage && <span class="badge list-map">storage</span>}{kind.deprecated && <span class="badge lossy">deprecated</span>}</header>
      <p class="muted">Choose a field. The arrow keys move in the tree, <kbd>/</kbd> searches.</p>
      <dl class="facts">{names.filter(([, text]) => text).map(([name, text]) => <div><dt>{name}</dt><dd>{text}</dd></div>)}</dl>
      {checked && (
        <section>
          <h3>Which releases install it</h3>
          <ul class="releases">{checked.releases.map(({ release, accepted, warnings }) => (
            <li class={`pill ${accepted ? (warnings ? "warn" : "good") : "bad"}`}
              title={accepted ? (warnings ? `installs it with ${warnings} warnings` : "installs it") : "refuses it"}>{release}</li>
          ))}</ul>
          <p class="small muted">It {checked.verdict}.</p>
        </section>
      )}
      {checked && checked.findings.length > 0 && <section><h3>What servers and kubeshape say</h3><Findings all={checked.findings} /></section>}
    </article>
  );
}

export type Source = { columns: (kind: Kind) => Promise<Columns>; detail: (kind: Kind, index: number) => Promise<Detail> };

export function Fields({ kind, path, source, ready, onPath }: {
  kind: Kind; path: string; source: Source; ready: (kind: Kind) => Promise<void>; onPath: (path: string) => void;
}) {
  const [query, setQuery] = useState("");
  const search = useRef<HTMLInputElement>(null);
  const rested = useRest(query.trim(), 150);
  const { value: columns, error } = useAnswer(() => source.columns(kind), [kind]);
  const selected = columns?.paths?.indexOf(path) ?? -1;
  const { value: detail } = useAnswer(() => (selected >= 0 ? source.detail(kind, selected) : undefined), [kind, columns, selected]);
  const { value: found } = useAnswer(async () => {
    if (!rested) return undefined;
    await ready(kind);
    return new Set(await ask<number[]>("search", kind.apiVersion, kind.kind, rested));
  }, [kind, rested]);
  useEffect(() => setQuery(""), [kind]);
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const target = event.composedPath()[0] as HTMLElement;
      if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && !target.isContentEditable) {
        event.preventDefault();
        search.current?.focus();
      }
    };
    document.addEventListener("keydown", key);
    return () => document.removeEventListener("keydown", key);
  }, []);
  const problem = error ?? columns?.error;
  if (problem) return <Empty title="There are no fields to show"><p>{problem}</p></Empty>;
  if (!columns) return <div class="loading" role="status">Reading {kind.kind}…</div>;
  return (
    <div class="fields">
      <div class="fields-tree">
        <div class="search">
          <input ref={search} type="search" aria-label="Search fields" placeholder="Search names and descriptions   /" value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") setQuery("");
              if (event.key === "ArrowDown") document.querySelector<HTMLElement>(".tree")?.focus();
            }} />
          <span class="count" role="status">
            {rested && found ? `${number.format(found.size)} of ${number.format(columns.names.length)}` : `${number.format(columns.names.length)} fields`}
          </span>
        </div>
        {rested && found?.size === 0
          ? <Empty title="Nothing found"><p>No name and no description has “{rested}”.</p></Empty>
          : <Tree columns={columns} selected={selected} found={rested ? found : undefined}
              onSelect={(index) => onPath(columns.paths[index]!)} />}
      </div>
      <div class="fields-detail">
        {selected < 0 ? <Overview kind={kind} ready={ready} />
          : !detail ? <div class="loading" role="status">Reading {path}…</div>
          : detail.error ? <Empty title="Nothing is known of this field"><p>{detail.error}</p></Empty>
          : <FieldDetail detail={detail} onPath={onPath} />}
      </div>
    </div>
  );
}
