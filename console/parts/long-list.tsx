/** A list of any length whose rows are all equally high: only those in sight are in the document. */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface Shown {
  count: number;
  /** Pixels. */
  rowHeight: number;
  row: (index: number) => ComponentChildren;
  /** The row that has to be in sight; it moves there when it changes. */
  shown?: number | undefined;
  /** New rows at the end come into sight as long as the end is. */
  follows?: boolean;
  label: string;
  role?: "tree" | "list";
  active?: string | undefined;
  onKeyDown?: (event: KeyboardEvent) => void;
}

/** Rows beyond the edges, so that scrolling shows no gaps. */
const BEYOND = 12;
/** Pixels. */
const HIGHEST = 480;

export function LongList({ count, rowHeight, row, shown, follows = false, label, role = "list", active, onKeyDown }: Shown) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [seen, setSeen] = useState({ top: 0, height: 600 });

  function look(): void {
    if (!box.current) return; // an observer may come late
    const { scrollTop, clientHeight, scrollHeight } = box.current;
    isAtEnd.current = scrollTop + clientHeight >= scrollHeight - rowHeight;
    const top = Math.floor(scrollTop / rowHeight);
    setSeen((last) => (last.top === top && last.height === clientHeight ? last : { top, height: clientHeight }));
  }

  useEffect(() => {
    const sizes = new ResizeObserver(look);
    sizes.observe(box.current!);
    return () => sizes.disconnect();
  }, []);

  useLayoutEffect(() => {
    if (follows && isAtEnd.current) box.current!.scrollTop = count * rowHeight;
  }, [count, follows]);

  useLayoutEffect(() => {
    if (shown === undefined || shown < 0) return;
    const { scrollTop, clientHeight } = box.current!;
    const top = shown * rowHeight;
    if (top < scrollTop) box.current!.scrollTop = top;
    else if (top + rowHeight > scrollTop + clientHeight) box.current!.scrollTop = top + rowHeight - clientHeight;
    look();
  }, [shown]);

  const first = Math.max(0, Math.min(seen.top, count - 1) - BEYOND);
  const end = Math.min(count, seen.top + Math.ceil(seen.height / rowHeight) + BEYOND);
  const rows: ComponentChildren[] = [];
  for (let index = first; index < end; index += 1) rows.push(row(index));
  return (
    <div
      ref={box}
      class="long-list"
      role={role}
      aria-label={label}
      aria-activedescendant={active}
      style={{ height: `${Math.min(HIGHEST, count * rowHeight + 2)}px` }}
      tabIndex={0}
      onScroll={look}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" style={{ height: `${first * rowHeight}px` }} />
      {rows}
      <div role="presentation" style={{ height: `${Math.max(0, count - end) * rowHeight}px` }} />
    </div>
  );
}
