// The tree of fields: only the rows that are seen exist.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Columns } from "./library";

/** The height of a row. */
export const ROW = 30;
const BADGES: Record<string, string> = {
  required: "required", enum: "enum", rules: "rules", "list-map": "keyed", "list-set": "set", atomic: "atomic",
  preserved: "open", nullable: "nullable", lossy: "v2 loses",
  alpha: "alpha", beta: "beta", deprecated: "deprecated",
};

type Props = {
  columns: Columns; selected: number; onSelect: (index: number) => void;
  /** Fields that a search found; all if undefined. */
  found?: Set<number>;
  /** Marks from a comparison. */
  classes?: Map<number, string>;
};

export function parents({ depths }: Columns): Int32Array {
  const out = new Int32Array(depths.length);
  const open: number[] = [];
  depths.forEach((depth, index) => {
    open.length = depth;
    out[index] = depth > 0 ? open[depth - 1]! : -1;
    open.push(index);
  });
  return out;
}

export function Tree({ columns, selected, onSelect, found, classes }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<Set<number>>(new Set());
  const [scroll, setScroll] = useState(0);
  const [height, setHeight] = useState(600);
  const up = useMemo(() => parents(columns), [columns]);
  const hasFields = (index: number) => (columns.depths[index + 1] ?? 0) > columns.depths[index]!;

  // What people write is open: `spec`, or everything but the metadata where there is none.
  useEffect(() => {
    const start = new Set<number>();
    const top = columns.names.map((_, index) => index).filter((index) => columns.depths[index] === 0);
    const spec = top.filter((index) => columns.names[index] === "spec");
    const rest = columns.names.length < 60 ? top.filter((index) => columns.names[index] !== "metadata") : [];
    (spec.length > 0 ? spec : rest).forEach((index) => start.add(index));
    setOpened(start);
  }, [columns]);
  useEffect(() => {
    if (selected < 0) return;
    setOpened((before) => {
      const after = new Set(before);
      for (let at = up[selected] ?? -1; at >= 0; at = up[at]!) after.add(at);
      return after;
    });
  }, [selected, up]);
  useEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const shown = useMemo(() => {
    if (found) {
      const all = new Set<number>();
      for (const index of found) for (let at = index; at >= 0 && !all.has(at); at = up[at]!) all.add(at);
      return [...all].sort((a, b) => a - b);
    }
    const out: number[] = [];
    for (let index = 0; index < columns.depths.length;) {
      out.push(index);
      if (opened.has(index) || !hasFields(index)) { index++; continue; }
      const depth = columns.depths[index]!;
      do index++; while (index < columns.depths.length && columns.depths[index]! > depth);
    }
    return out;
  }, [columns, opened, found, up]);

  const at = shown.indexOf(selected);
  useEffect(() => {
    const element = box.current!;
    if (at < 0) return;
    if (at * ROW < element.scrollTop) element.scrollTop = at * ROW;
    else if ((at + 1) * ROW > element.scrollTop + element.clientHeight) element.scrollTop = (at + 1) * ROW - element.clientHeight;
  }, [at, shown]);

  const toggle = (index: number, open = !opened.has(index)) => {
    const after = new Set(opened);
    if (open) after.add(index); else after.delete(index);
    setOpened(after);
  };
  const move = (to: number) => {
    const index = shown[Math.min(Math.max(to, 0), shown.length - 1)];
    if (index !== undefined) onSelect(index);
  };
  const key = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height / ROW) - 1);
    const actions: Record<string, () => void> = {
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at < 0 ? 0 : at - 1),
      PageDown: () => move(at + page),
      PageUp: () => move(at - page),
      Home: () => move(0),
      End: () => move(shown.length - 1),
      ArrowRight: () => {
        if (selected < 0 || !hasFields(selected)) return;
        if (opened.has(selected) || found) move(at + 1); else toggle(selected, true);
      },
      ArrowLeft: () => {
        if (selected >= 0 && opened.has(selected) && hasFields(selected) && !found) toggle(selected, false);
        else if ((up[selected] ?? -1) >= 0) onSelect(up[selected]!);
      },
      Enter: () => selected >= 0 && toggle(selected),
      " ": () => selected >= 0 && toggle(selected),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  };

  const first = Math.max(0, Math.floor(scroll / ROW) - 8);
  const last = Math.min(shown.length, Math.ceil((scroll + height) / ROW) + 8);
  return (
    <div class="tree" role="tree" aria-label="Fields" tabIndex={0} ref={box} onKeyDown={key}
      aria-activedescendant={at >= first && at < last ? `field-${selected}` : undefined}
      onScroll={(event) => setScroll(event.currentTarget.scrollTop)}>
      <div class="tree-all" role="presentation" style={{ height: `${shown.length * ROW}px` }}>
        {shown.slice(first, last).map((index, offset) => {
          const depth = columns.depths[index]!;
          const isParent = hasFields(index);
          const marks = columns.marks[index]!;
          const isOpen = isParent && (opened.has(index) || found !== undefined);
          const names = columns.marksOf.filter((name, bit) => marks & (1 << bit) && BADGES[name]);
          return (
            <div key={index} id={`field-${index}`} role="treeitem" class={`row ${classes?.get(index) ?? ""}`}
              aria-level={depth + 1} aria-selected={index === selected} aria-expanded={isParent ? isOpen : undefined}
              style={{ top: `${(first + offset) * ROW}px`, paddingLeft: `${10 + Math.min(depth, 24) * 16}px` }}
              onClick={() => { onSelect(index); if (isParent && (index === selected || !isOpen)) toggle(index); }}>
              <span class={`twist ${isParent ? (isOpen ? "open" : "closed") : "none"}`} aria-hidden="true" />
              <span class={`name ${found && !found.has(index) ? "context" : ""}`}>{columns.names[index]}</span>
              <span class="type">{columns.types[index]}</span>
              {columns.defaults[index] !== null && <span class="default">= {columns.defaults[index]}</span>}
              <span class="badges">{names.map((name) => <span class={`badge ${name}`}>{BADGES[name]}</span>)}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
